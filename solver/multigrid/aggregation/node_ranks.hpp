#pragma once

#include <memory>
#include <span>
#include <vector>

#include "spmm/device/neighbourhood.hpp"
#include "spmm/parallel/context.hpp"
#include "spmm/parallel/halo_exchange.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs::aggregation {

/// The ranks that the nodes of a level are dealt to.
class NodeRanks final : public Neighbourhood {
 public:
  /// `ghosts`: global numbers, ascending, none of them own. Collective.
  NodeRanks(const Context<double>& context, const Partition& nodes, std::span<const GlobalIndex> ghosts);

  bool has_others() const override { return context_.comm.size() > 1; }
  GlobalIndex first_node() const override { return first_; }
  /// Integers travel as the bits of doubles: they are copied, never computed with.
  void refresh(std::int64_t* values) override { refresh(reinterpret_cast<double*>(values)); }
  void refresh(double* values) override;
  void raise_to_largest(std::span<double> values) override;
  void add_up(std::span<std::int64_t> values) override { context_.comm.sum(values); }
  bool any(bool value) override { return context_.comm.any(value); }
  GlobalIndex sum_before(LocalIndex count) override;
  void collectively(const std::function<void()>& step) override { context_.comm.collectively(step); }

 private:
  Context<double> context_;
  GlobalIndex first_;
  LocalIndex own_;
  std::unique_ptr<HaloExchange<double>> halo_;  ///< null on one rank
};

}  // namespace block_eigs::aggregation
