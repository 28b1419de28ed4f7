// A solve on all ranks in which the last one fails in a product, in the way that the CONFIG argument names.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "apps/journey/session.hpp"
#include "io/generate/generate.hpp"
#include "solver/block_cg/block_cg.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "spmm/error.hpp"
#include "spmm/matrix/distributed_matrix.hpp"

namespace {

using namespace block_eigs;

constexpr int last_sound_product = 30;

/// A until its time has come.
class BreakingOperator final : public LinearOperator<double> {
 public:
  BreakingOperator(DistributedMatrix<double>& a, std::string how) : a_(a), how_(std::move(how)) {}

  LocalIndex rows() const override { return a_.rows(); }
  LocalIndex columns() const override { return a_.columns(); }
  double norm_inf() const override { return a_.norm_inf(); }
  void reserve(LocalIndex columns) override { a_.reserve(columns); }
  void apply(ConstBlockView<double> x, BlockView<double> y) override {
    const Communicator& comm = a_.context().comm;
    if (++products_ > last_sound_product && comm.rank() == comm.size() - 1) fail();
    a_.apply(x, y);
  }

 private:
  void fail() const {
    if (how_.starts_with("throw")) throw RunError("broken on purpose");
    if (how_.starts_with("memory")) throw std::bad_alloc();
    std::raise(how_.starts_with("kill") ? SIGKILL : SIGSEGV);
  }

  DistributedMatrix<double>& a_;
  std::string how_;
  int products_ = 0;
};

ExitCode solve(const Communicator& comm, const Arguments& arguments) {
  const Context<double> context = make_context<double>(comm, Backend::host);
  const auto source = laplacian3d(comm, {.size = {24, 24, 24}, .points = 7});
  const Partition partition = Partition::uniform(source->rows(), comm.size());
  DistributedMatrix<double> a(context, source->read(partition), partition, partition);
  BreakingOperator breaking(a, arguments.config);
  BlockSpace<double> space(context, partition);
  if (arguments.config.ends_with("-cg")) {
    DenseBlock<double> f = space.make_block(4);
    space.fill_random(f.view(), 1);
    block_cg<double>(space, breaking, nullptr, f, {}, {1e-15, 100000, 4});
  } else {
    LobpcgOptions options;
    options.pairs = 8;
    options.block_size = 8;
    options.tolerance = 1e-15;
    options.max_iterations = 100000;
    lobpcg<double>(space, breaking, nullptr, nullptr, nullptr, {}, options);
  }
  return ExitCode::success;
}

}  // namespace

int main(int argc, char** argv) {
  return block_eigs::run_session(argc, argv, "block-probe", "Fails in the middle of a solve.", solve);
}
