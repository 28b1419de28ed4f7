// A solve on all ranks in which the last one fails in a product, or in its messages, in the way that the CONFIG
// argument names: throw, memory, kill, crash; messages, messages-behind; on GPUs (-cuda, -peer) device-memory and
// address, too. -cg: block CG instead of LOBPCG.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "apps/journey/early_end.hpp"
#include "apps/journey/session.hpp"
#include "io/generate/generate.hpp"
#include "solver/block_cg/block_cg.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "spmm/error.hpp"
#include "spmm/matrix/distributed_matrix.hpp"
#include "spmm/parallel/nccl_transport.hpp"
#include "tests/app/illegal_access.hpp"
#include "tests/support/mpi_messages_device.hpp"

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
    const bool by_itself = !how_.starts_with("messages");
    if (by_itself && ++products_ > last_sound_product && comm.rank() == comm.size() - 1) fail();
    a_.apply(x, y);
  }

 private:
  void fail() const {
    if (how_.starts_with("throw")) throw RunError("broken on purpose");
    if (how_.starts_with("memory")) throw std::bad_alloc();
    if (how_.starts_with("device-memory")) {
      const Device& device = *a_.context().device;
      DenseBlock<double>(a_.context().device, static_cast<LocalIndex>(device.memory().total / 1000), 1000);
    }
    if (how_.starts_with("address")) {
      test::access_illegal_address();
      return;  // the product that follows meets it
    }
    std::raise(how_.starts_with("kill") ? SIGKILL : SIGSEGV);
  }

  DistributedMatrix<double>& a_;
  std::string how_;
  int products_ = 0;
};

/// Rows that queues send by themselves, by messages whose last rank fails where `how` says it.
Context<double> with_failing_messages(const Communicator& comm, const std::string& how) {
  const auto device = std::make_shared<test::MpiMessagesDevice>(comm.handle());
  TransportAttempt attempt = make_nccl_transport(comm, device);
  require(attempt.transport != nullptr, attempt.why_not);
  if (comm.rank() == comm.size() - 1) {
    device->faults.calls_before = last_sound_product;
    device->faults.behind_launch_after = how.starts_with("messages-behind");
  }
  return {comm, device, make_kernels<double>(device->host()), std::make_shared<Profile>(device),
          std::move(attempt.transport)};
}

Context<double> context_for(const Communicator& comm, const std::string& how) {
  if (how.starts_with("messages")) return with_failing_messages(comm, how);
  if (how.find("-peer") != std::string::npos) return make_context<double>(comm, Backend::cuda, HaloWay::peer);
  return make_context<double>(comm, how.find("-cuda") != std::string::npos ? Backend::cuda : Backend::host);
}

ExitCode solve(const Communicator& comm, const Arguments& arguments) {
  EarlyEnd early(comm, {});  // as the programs have it: launchers send SIGTERM when a rank has failed
  const Context<double> context = context_for(comm, arguments.config);
  early.solving(context.stop);
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
