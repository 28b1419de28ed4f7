#include "io/partition/reordered_sources.hpp"

#include <utility>

#include "spmm/error.hpp"

namespace block_eigs {

namespace {

Partition nodes_of(const Partition& rows, int unknowns) {
  std::vector<GlobalIndex> offsets = rows.offsets();
  for (GlobalIndex& offset : offsets) offset /= unknowns;
  return Partition(std::move(offsets));
}

}  // namespace

ReorderedMatrix::ReorderedMatrix(std::unique_ptr<MatrixSource> source, std::shared_ptr<const RowOrder> order,
                                 std::optional<CsrRows> rows)
    : source_(std::move(source)), order_(std::move(order)), next_(std::move(rows)) {}

CsrRows ReorderedMatrix::read(const Partition& partition) {
  require(partition == order_->partition(), "a reordered matrix is read by the partition of its order");
  if (next_) {
    CsrRows rows = std::move(*next_);
    next_.reset();
    return rows;
  }
  return order_->reordered(source_->read(order_->file()));
}

ReorderedBlock::ReorderedBlock(std::unique_ptr<BlockSource> source, std::shared_ptr<const RowOrder> order)
    : source_(std::move(source)), order_(std::move(order)) {}

std::vector<double> ReorderedBlock::read(const Partition& partition, GlobalIndex first, LocalIndex count) {
  const auto columns = static_cast<std::size_t>(count);
  if (source_->rows() == order_->file().rows()) {
    require(partition == order_->partition(), "reordered vectors are read by the partition of their order");
    return order_->reordered(source_->read(order_->file(), first, count), columns);
  }
  require(partition == nodes_of(order_->partition(), order_->unknowns()),
          "what holds for nodes is read by the partition of the nodes");
  return order_->reordered_nodes(source_->read(nodes_of(order_->file(), order_->unknowns()), first, count),
                                 columns);
}

}  // namespace block_eigs
