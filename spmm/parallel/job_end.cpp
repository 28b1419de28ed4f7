#include "spmm/parallel/job_end.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "spmm/unfinished_files.hpp"

namespace block_eigs {

namespace {

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

void on_error(MPI_Comm* /*comm*/, int* error, ...) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  std::array<char, MPI_MAX_ERROR_STRING + 64> sentence{};
  int length = 0;
  MPI_Error_string(*error, text.data(), &length);
  std::snprintf(sentence.data(), sentence.size(), "block-eigs: error: MPI failed on rank %d: %s", world_rank(),
                text.data());
  end_job(ExitCode::run_failed, sentence.data());
}

}  // namespace

void end_job(ExitCode code, const char* sentence) noexcept {
  // Launchers end the other ranks about a second after they have asked them to.
  constexpr auto patience = std::chrono::milliseconds(2000);
  constexpr auto turn = std::chrono::milliseconds(100);
  const int rank = world_rank();
  if (rank > 0) std::this_thread::sleep_for(patience + turn * std::min(rank, 20));
  std::fprintf(stderr, "%s\n", sentence);
  std::fflush(stderr);
  remove_unfinished_files();
  MPI_Abort(MPI_COMM_WORLD, static_cast<int>(code));
  std::abort();  // MPI_Abort does not come back
}

void end_job_on_errors(MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(on_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Errhandler_free(&handler);  // lives as long as the communicator
}

}  // namespace block_eigs
