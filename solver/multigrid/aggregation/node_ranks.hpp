#pragma once

#include <memory>
#include <span>
#include <vector>

#include "spmm/parallel/all_ranks.hpp"
#include "spmm/parallel/context.hpp"
#include "spmm/parallel/halo_exchange.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs::aggregation {

/// The ranks that the nodes of a level are dealt to.
class NodeRanks final : public AllRanks {
 public:
  /// `ghosts`: global numbers, ascending, none of them own. Collective.
  NodeRanks(const Context<double>& context, const Partition& nodes, std::span<const GlobalIndex> ghosts);

  GlobalIndex first_node() const override { return first_; }
  /// Integers travel as the bits of doubles: they are copied, never computed with.
  void refresh(std::int64_t* values) override { refresh(reinterpret_cast<double*>(values)); }
  void refresh(double* values) override;

 private:
  Context<double> context_;
  GlobalIndex first_;
  LocalIndex own_;
  std::unique_ptr<HaloExchange<double>> halo_;  ///< null on one rank
};

}  // namespace block_eigs::aggregation
