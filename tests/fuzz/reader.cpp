#include "tests/fuzz/reader.hpp"

#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "io/formats/block_file.hpp"
#include "io/formats/matrix_file.hpp"
#include "spmm/error.hpp"

namespace block_eigs::fuzz {

namespace {

constexpr GlobalIndex most_rows = 100000;
/// Numbers of a dense block.
constexpr GlobalIndex most_numbers = 1000000;

std::unique_ptr<Communicator> communicator;
std::string path;

[[noreturn]] void finding(const char* what, const std::string& text) {
  std::fprintf(stderr, "%s: %s\n", what, text.c_str());
  std::abort();
}

void check_rows(const CsrRows& rows, GlobalIndex columns) {
  for (std::size_t i = 0; i + 1 < rows.row_offsets.size(); ++i) {
    for (Offset k = rows.row_offsets[i]; k < rows.row_offsets[i + 1]; ++k) {
      const auto at = static_cast<std::size_t>(k);
      const bool sorted = k == rows.row_offsets[i] || rows.columns[at - 1] < rows.columns[at];
      if (!sorted || rows.columns[at] < 0 || rows.columns[at] >= columns || !std::isfinite(rows.values[at]))
        finding("no matrix came out", "row " + std::to_string(i));
    }
  }
}

}  // namespace

const Communicator& self() { return *communicator; }

const std::string& as_file(const std::uint8_t* data, std::size_t size) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || ::write(file, data, size) != static_cast<ssize_t>(size)) finding("cannot be written", path);
  ::close(file);
  return path;
}

void check_reader(const std::function<void()>& read) {
  try {
    read();
  } catch (const InputError& error) {
    const std::string what = error.what();
    if (what.empty() || what.find('\n') != std::string::npos) finding("not one line", what);
  } catch (const std::exception& error) {
    finding("another exception than InputError", error.what());
  }
}

void read_matrix(const std::string& file) {
  check_reader([&] {
    const auto source = open_matrix_file(self(), file, "");
    if (source->rows() > most_rows || source->columns() > most_rows) return;
    check_rows(source->read(Partition::uniform(source->rows(), 1)), source->columns());
  });
}

void read_block(const std::string& file, const std::vector<std::string>& datasets) {
  check_reader([&] {
    const auto source = open_block_file(self(), file, datasets);
    if (source->rows() > most_rows || source->columns() > most_rows ||
        source->rows() * source->columns() > most_numbers)
      return;
    const Partition partition = Partition::uniform(source->rows(), 1);
    const auto columns = static_cast<LocalIndex>(source->columns());
    for (const double value : source->read(partition, 0, columns)) {
      if (!std::isfinite(value)) finding("no numbers came out", std::to_string(value));
    }
    if (columns > 1) source->read(partition, columns - 1, 1);
  });
}

}  // namespace block_eigs::fuzz

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a worker that has ended (worker.hpp)
  int provided = 0;
  MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
  block_eigs::fuzz::communicator = std::make_unique<block_eigs::Communicator>(MPI_COMM_SELF);
  block_eigs::fuzz::path = "/dev/shm/fuzz_block_eigs_" + std::to_string(::getpid());
  std::atexit([] {
    ::unlink(block_eigs::fuzz::path.c_str());
    ::unlink(("/dev/shm/fuzz_block_eigs_report_" + std::to_string(::getpid())).c_str());
  });
  return 0;
}
