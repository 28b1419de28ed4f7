// How quickly a matrix file is read: [mpirun -n N] bench_read FILE [DATASET] [--repeats 3] [--device cuda]. Prints
// for each reading seconds, MB of file and nonzeros a second; opening is counted, the file is in the page cache
// from the second reading on. With a device the matrix is checked as the programs do and brought there, until a
// product can begin.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "apps/bench/command_line.hpp"
#include "apps/bench/ranks_program.hpp"
#include "apps/input/problem.hpp"
#include "io/formats/matrix_file.hpp"
#include "spmm/parallel/context.hpp"

namespace {

using namespace block_eigs;

struct Options {
  std::string file;
  std::string dataset;
  int repeats = 3;
  std::string device;  ///< empty: into host memory, and no further
};

struct Size {
  GlobalIndex rows = 0;
  GlobalIndex nonzeros = 0;
};

Size read(const Communicator& comm, const Options& options) {
  const auto source = open_matrix_file(comm, options.file, options.dataset);
  const CsrRows rows = source->read(Partition::uniform(source->rows(), comm.size()));
  return {source->rows(), comm.sum(rows.nonzeros())};
}

Size bring(const Context<double>& context, const Options& options) {
  const Sources sources{open_matrix_file(context.comm, options.file, options.dataset), nullptr};
  const Problem<double> problem = read_problem(context, sources, ReadOptions{});
  context.device->synchronize(Queue::compute);
  return {sources.a->rows(), context.comm.sum(problem.a->nonzeros())};
}

void repeat(const Communicator& comm, const Options& options, const std::function<Size()>& work) {
  for (int i = 0; i < options.repeats; ++i) {
    comm.barrier();
    const auto began = std::chrono::steady_clock::now();
    const Size size = work();
    const double seconds =
        comm.max(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    if (!comm.is_root()) continue;
    const auto bytes = static_cast<double>(std::filesystem::file_size(options.file));
    fmt::print("{} {}: {} ranks, {} rows, {} nonzeros: {:.3f} s, {:.1f} MB/s, {:.2f} million nonzeros/s\n",
               options.file, options.dataset, comm.size(), size.rows, size.nonzeros, seconds,
               bytes / seconds / 1e6, static_cast<double>(size.nonzeros) / seconds / 1e6);
  }
}

void run(const Communicator& comm, const Options& options) {
  if (options.device.empty()) return repeat(comm, options, [&] { return read(comm, options); });
  const Context<double> context = make_context<double>(comm, backend_from_name(options.device));
  repeat(comm, options, [&] { return bring(context, options); });
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  bench::CommandLine line{"How quickly a matrix file is read"};
  line.add("file", options.file, "any format of docs/formats.md").required();
  line.add("dataset", options.dataset, "of an HDF5 file");
  line.add("--repeats", options.repeats, "readings");
  line.add("--device", options.device, "auto, host or cuda: checked and brought there as well");
  return bench::run_on_ranks(argc, argv, line, [&](const Communicator& comm) { run(comm, options); });
}
