#include "solver/multigrid/aggregation/node_ranks.hpp"

#include <cstddef>
#include <utility>

namespace block_eigs::aggregation {

NodeRanks::NodeRanks(const Context<double>& context, const Partition& nodes, std::span<const GlobalIndex> ghosts)
    : AllRanks(context.comm),
      context_(context),
      first_(nodes.begin(context.comm.rank())),
      own_(nodes.size(context.comm.rank())) {
  if (!has_others()) return;
  HaloPlan plan(context.comm, nodes, ghosts);
  context.comm.collectively([&] { halo_ = make_halo_exchange(context, std::move(plan)); });
  halo_->reserve(1);
}

void NodeRanks::refresh(double* values) {
  if (!halo_) return;
  try {
    halo_->begin({values, own_, 1, 1});
    const ConstBlockView<double> ghosts = halo_->finish();
    if (ghosts.rows == 0) return;
    context_.device->copy_within(values + own_, ghosts.data,
                                 static_cast<std::size_t>(ghosts.rows) * sizeof(double), Queue::compute);
  } catch (...) {
    halo_->give_up();
    throw;
  }
}

}  // namespace block_eigs::aggregation
