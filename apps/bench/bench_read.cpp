// How quickly a matrix file is read: [mpirun -n N] bench_read FILE [DATASET [REPETITIONS]]. Prints for each
// reading seconds, MB of file and nonzeros a second; opening is counted, the file is in the page cache from the
// second reading on.
#include <fmt/format.h>
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "io/formats/matrix_file.hpp"
#include "spmm/error.hpp"

namespace {

using namespace block_eigs;

void read_repeatedly(const Communicator& comm, const std::string& path, const std::string& dataset,
                     int repetitions) {
  for (int i = 0; i < repetitions; ++i) {
    comm.barrier();
    const auto began = std::chrono::steady_clock::now();
    const auto source = open_matrix_file(comm, path, dataset);
    const CsrRows rows = source->read(Partition::uniform(source->rows(), comm.size()));
    const double seconds =
        comm.max(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    const auto nonzeros = comm.sum(rows.nonzeros());
    if (!comm.is_root()) continue;
    const auto bytes = static_cast<double>(std::filesystem::file_size(path));
    fmt::print("{} {}: {} ranks, {} rows, {} nonzeros: {:.3f} s, {:.1f} MB/s, {:.2f} million nonzeros/s\n", path,
               dataset, comm.size(), source->rows(), nonzeros, seconds, bytes / seconds / 1e6,
               static_cast<double>(nonzeros) / seconds / 1e6);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 0;
  try {
    require(argc >= 2, "usage: bench_read FILE [DATASET [REPETITIONS]]");
    read_repeatedly(Communicator(MPI_COMM_WORLD), argv[1], argc > 2 ? argv[2] : "",
                    argc > 3 ? std::atoi(argv[3]) : 3);
  } catch (const RemoteError& error) {
    code = static_cast<int>(error.exit_code());
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    code = static_cast<int>(error.exit_code());
  }
  MPI_Finalize();
  return code;
}
