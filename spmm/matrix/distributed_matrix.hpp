#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "spmm/device/sparse_algebra.hpp"
#include "spmm/matrix/csr_rows.hpp"
#include "spmm/matrix/linear_operator.hpp"
#include "spmm/matrix/split_matrix.hpp"
#include "spmm/parallel/context.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs {

/// A sparse matrix whose rows are dealt to ranks by `row_partition`, acting on vectors that are dealt by
/// `column_partition` (the same one where it is square). The own columns and the ghost columns are two CSR
/// matrices; the second holds the boundary rows only. `apply` multiplies own columns while the halo is under
/// way, then adds the ghost part.
template <class T>
class DistributedMatrix final : public LinearOperator<T> {
 public:
  /// Collective. Consumes `rows`, which are those that `row_partition` gives to the calling rank. Throws
  /// InputError (through Communicator::collectively) when indices are out of range. Where one rank's rows are in
  /// its device's memory as well, entry for entry and in this precision, `resident` are these: they are worked
  /// with where they are, and have to outlive the matrix.
  DistributedMatrix(const Context<T>& context, CsrRows rows, Partition row_partition, Partition column_partition,
                    const SpmmOptions& options = {}, const DeviceEntries& resident = {});
  /// Of own rows that are on the device already. `numbers` are those of the matrix in double; null where it
  /// is not square, which then has neither norm nor diagonal. Collective.
  DistributedMatrix(const Context<T>& context, CsrParts<T> parts, Partition row_partition,
                    Partition column_partition, std::shared_ptr<const MatrixNumbers> numbers,
                    const SpmmOptions& options = {});

  LocalIndex rows() const override { return row_partition_.size(context_.comm.rank()); }
  LocalIndex columns() const override { return column_partition_.size(context_.comm.rank()); }
  void apply(ConstBlockView<T> x, BlockView<T> y) override { multiply(x, y, Accumulate::no); }
  bool apply_step(ConstBlockView<T> x, BlockView<T> y, const ProductStep<T>& step) override;
  bool apply_products(ConstBlockView<T> x, BlockView<T> y, SmallMatrix& products) override;
  void reserve(LocalIndex columns) override;
  /// y = A x or y += A x. Collective.
  void multiply(ConstBlockView<T> x, BlockView<T> y, Accumulate accumulate);
  double norm_inf() const override { return norm_inf_; }
  double typical_row_sum() const override { return typical_row_sum_; }

  const Context<T>& context() const { return context_; }
  const Partition& row_partition() const { return row_partition_; }
  const Partition& column_partition() const { return column_partition_; }
  GlobalIndex global_nonzeros() const { return global_nonzeros_; }
  /// Own diagonal entries, rows() of them, zero where none is stored. In host memory.
  const std::vector<double>& diagonal() const;
  /// Own rows in device memory, without ghost columns: on one rank that is all of it.
  const CsrMatrix<T>& own_columns() const { return matrix_->own(); }
  /// Its ghost columns, of the rows that have entries there.
  const CsrMatrix<T>& boundary() const { return matrix_->boundary(); }
  /// Rows that this rank receives in a halo exchange.
  LocalIndex ghosts() const { return static_cast<LocalIndex>(ghosts_.size()); }
  /// Their global numbers, ascending: the columns of boundary().
  const std::vector<GlobalIndex>& ghost_columns() const { return ghosts_; }
  /// Ranks that this rank receives them from.
  int neighbours() const { return neighbours_; }
  /// Nonzeros of own rows.
  Offset nonzeros() const { return nonzeros_; }
  /// Device memory of both parts.
  std::size_t bytes() const override;
  /// That of a halo, as many rows sent as received.
  std::size_t work_bytes(LocalIndex cols) const override;
  double blocks_beside(LocalIndex cols) const override;
  /// max_i sum_j |a_ij| / |d_i| over all ranks, d the diagonal with 1 for 0: no eigenvalue of D^-1 A, or of
  /// D^-1/2 A D^-1/2 for positive d, is larger (Gershgorin). 0 where not square.
  double scaled_gershgorin_bound() const { return scaled_gershgorin_; }
  /// What Jacobi divides by: own diagonal entries, any sign, raised to r_i min(1, r_i / max_j |d_j|) in magnitude
  /// where that is more than twice as much, r_i = max_j |a_ij| beside the diagonal. A positive semi-definite
  /// matrix has no such entries, as a_ij^2 <= a_ii a_jj; elsewhere 1 / d_i would drown all other rows. Where row
  /// and diagonal are zero: max_j |d_j|, or 1. In host memory; the diagonal where the matrix is not square.
  const std::vector<double>& jacobi_diagonal() const;
  /// sum_j |a_ij| of own rows, where some row's is far above the typical one; else empty. In host memory.
  const std::vector<double>& row_sums() const;
  /// Where they were found on the device, the diagonals among them; else null.
  const MatrixNumbers* numbers_on_device() const { return numbers_.get(); }
  /// scaled_gershgorin_bound() for jacobi_diagonal().
  double jacobi_bound() const { return jacobi_bound_; }

 private:
  friend std::unique_ptr<DistributedMatrix<float>> in_float(const Context<float>& context,
                                                            const DistributedMatrix<double>& a,
                                                            const SpmmOptions& options);
  /// Without entries yet.
  DistributedMatrix(const Context<T>& context, Partition row_partition, Partition column_partition)
      : context_(context),
        row_partition_(std::move(row_partition)),
        column_partition_(std::move(column_partition)) {}
  void take_numbers();
  bool take_to_device(CsrRows& rows, const SpmmOptions& options, const DeviceEntries& resident);
  void take_from_host(CsrRows rows, const SpmmOptions& options, const DeviceEntries& resident);
  std::optional<CsrBuffers<double>> arrived(const CsrRows& rows, const DeviceEntries& resident);
  void take_parts(CsrParts<T> parts, const SpmmOptions& options);
  void raise_diagonal(const CsrRows& rows, double largest);

  Context<T> context_;
  Partition row_partition_;
  Partition column_partition_;
  std::shared_ptr<const MatrixNumbers> numbers_;  ///< where they were found on the device, else null
  mutable std::vector<double> diagonal_;  ///< these three come from `numbers_` when they are first asked for
  mutable std::vector<double> raised_;    ///< empty where no rank's differs from the diagonal
  mutable std::vector<double> row_sums_;  ///< empty where no rank has any
  double norm_inf_ = 0.0;
  double typical_row_sum_ = 0.0;
  double scaled_gershgorin_ = 0.0;
  double jacobi_bound_ = 0.0;
  GlobalIndex global_nonzeros_ = 0;
  std::vector<GlobalIndex> ghosts_;
  int neighbours_ = 0;
  Offset nonzeros_ = 0;
  std::unique_ptr<SplitMatrix<T>> matrix_;
};

/// The same matrix with its numbers rounded, on the device; the pattern is shared, and what there is to know of it
/// is that of the matrix in double. Collective.
std::unique_ptr<DistributedMatrix<float>> in_float(const Context<float>& context,
                                                   const DistributedMatrix<double>& a,
                                                   const SpmmOptions& options = {});

}  // namespace block_eigs
