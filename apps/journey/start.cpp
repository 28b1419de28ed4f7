#include "apps/journey/start.hpp"

#include <malloc.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "solver/small/lapack_buffers.hpp"
#include "spmm/device/address_space.hpp"

namespace block_eigs {

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;
/// What MPI has been seen to take while it starts, with what its threads set aside.
constexpr std::size_t mpi_bytes = 192 * mebibyte;

constexpr const char* yielding = "OMPI_MCA_mpi_yield_when_idle";

/// Whether OpenBLAS's own threads leave enough of `left` for everything else.
bool leaves_room(std::size_t left, int threads) {
  constexpr std::size_t stack = 8 * mebibyte;
  constexpr std::size_t all_else = 1024 * mebibyte;
  return left >= static_cast<std::size_t>(threads) * 2 * (lapack::blas_buffer_bytes + stack) + all_else;
}

/// As the launcher says it; nullptr where there is none.
const char* rank_in_environment() {
  constexpr std::array names = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
  for (const char* name : names) {
    if (const char* rank = std::getenv(name)) return rank;
  }
  return nullptr;
}

bool is_on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::stringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    folder.append("/").append(program);
    if (access(folder.c_str(), X_OK) == 0) return true;
  }
  return false;
}

}  // namespace

bool is_first_rank() {
  const char* rank = rank_in_environment();
  return rank == nullptr || std::string_view(rank) == "0";
}

bool has_launcher() { return rank_in_environment() != nullptr; }

void do_without_ssh() {
  const bool told = std::getenv("OMPI_MCA_plm_rsh_agent") != nullptr || std::getenv("OMPI_MCA_plm") != nullptr;
  if (has_launcher() || told || is_on_path("ssh") || is_on_path("rsh")) return;
  setenv("OMPI_MCA_plm", "isolated", 1);
}

NoYieldingAlone::NoYieldingAlone() {
  const char* ranks = std::getenv("OMPI_COMM_WORLD_SIZE");
  const bool alone = ranks != nullptr ? std::string_view(ranks) == "1" : !has_launcher();
  const char* told = std::getenv(yielding);
  if (!alone || told == nullptr) return;
  told_ = told;
  setenv(yielding, "0", 1);
}

NoYieldingAlone::~NoYieldingAlone() {
  if (told_) setenv(yielding, told_->c_str(), 1);
}

void return_freed_blocks() {
  // From here on blocks are made of large pages. Smaller ones come and go too often.
  constexpr int least = 4 * static_cast<int>(mebibyte);
  constexpr int most_blocks = 65536;  // as it is where nobody has said otherwise
  mallopt(M_MMAP_MAX, most_blocks);
  mallopt(M_MMAP_THRESHOLD, least);
  mallopt(M_TRIM_THRESHOLD, 2 * least);
}

std::optional<std::string> prepare_for_limited_memory(char** argv) {
  const std::size_t left = address_space_left();
  if (left == std::numeric_limits<std::size_t>::max()) return std::nullopt;
  const int threads = lapack::blas_threads();
  if (threads > 1 && !leaves_room(left, threads)) {
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    execv("/proc/self/exe", argv);
    return "out of memory: set OPENBLAS_NUM_THREADS=1" + address_space_remark();
  }
  const std::size_t least = mpi_bytes + lapack::blas_buffer_bytes;
  if (left >= least) {
    // Each thread that allocates would set 64 to 128 MiB of addresses aside, as many threads as happen to meet.
    mallopt(M_ARENA_MAX, 1);
    return std::nullopt;
  }
  if (!is_first_rank()) {
    // MPI might crash for want of memory before the first rank has said what is wrong, which ends all ranks.
    constexpr unsigned patience = 5;
    sleep(patience);
    return std::string();
  }
  return fmt::format("out of memory: at least {} MiB are needed to start, {} MiB are left{}", least / mebibyte,
                     left / mebibyte, address_space_remark());
}

}  // namespace block_eigs
