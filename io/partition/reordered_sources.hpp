#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/partition/row_order.hpp"
#include "io/source/block_source.hpp"
#include "io/source/matrix_source.hpp"

namespace block_eigs {

/// A square matrix in another order of its rows and columns. It can be read by the partition of that order alone.
class ReorderedMatrix final : public MatrixSource {
 public:
  /// `rows`: what the next call of `read` returns, where that is known.
  ReorderedMatrix(std::unique_ptr<MatrixSource> source, std::shared_ptr<const RowOrder> order,
                  std::optional<CsrRows> rows = {});

  GlobalIndex rows() const override { return source_->rows(); }
  GlobalIndex columns() const override { return source_->columns(); }
  std::string description() const override { return source_->description(); }
  CsrRows read(const Partition& partition) override;

 private:
  std::unique_ptr<MatrixSource> source_;
  std::shared_ptr<const RowOrder> order_;
  std::optional<CsrRows> next_;
};

/// Vectors in that order, or what holds for nodes: with as many rows as the order has rows, or nodes.
class ReorderedBlock final : public BlockSource {
 public:
  ReorderedBlock(std::unique_ptr<BlockSource> source, std::shared_ptr<const RowOrder> order);

  GlobalIndex rows() const override { return source_->rows(); }
  GlobalIndex columns() const override { return source_->columns(); }
  std::string description() const override { return source_->description(); }
  std::vector<double> read(const Partition& partition, GlobalIndex first, LocalIndex count) override;

 private:
  std::unique_ptr<BlockSource> source_;
  std::shared_ptr<const RowOrder> order_;
};

}  // namespace block_eigs
