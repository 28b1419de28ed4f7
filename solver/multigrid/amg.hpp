#pragma once

#include <memory>
#include <string>
#include <vector>

#include "solver/multigrid/device_levels.hpp"
#include "solver/preconditioner/chebyshev.hpp"
#include "spmm/matrix/dense_block.hpp"
#include "spmm/matrix/distributed_matrix.hpp"
#include "spmm/matrix/grid_levels.hpp"
#include "spmm/matrix/linear_operator.hpp"
#include "spmm/parallel/context.hpp"

namespace block_eigs {

struct AmgOptions {
  int smoother_degree = 2;
  double smoother_ratio = 5.0;  ///< the smoother works on [bound / ratio, bound] of the spectrum of D^-1 A
  double w_reduction = 4.0;     ///< a level with at least so many times fewer rows than the one above is
                                ///< visited twice: that bounds the work of a cycle
  double coarse_weight = 1.4;   ///< what a level that is solved or visited twice counts for, from 1 to below 2
  GlobalIndex largest_dense = 4096;  ///< coarsest levels of more rows are not solved, but smoothed
};

/// One W-cycle for A y = x on all columns at once, from zero (a V-cycle where coarsening is slow). The smoother
/// before and after the coarse correction is the same Chebyshev polynomial, the coarsest level is solved by its
/// pseudo-inverse (or, where coarsening has ended early for want of couplings, by a longer polynomial), and the
/// restriction is the transposed interpolation: the cycle is a symmetric positive definite operator. On a GPU the
/// first level below the finest that is small is solved by its inverse as well, and nothing below it is visited.
template <class T>
class Amg final : public LinearOperator<T> {
 public:
  /// Consumes the levels. Collective. Throws InputError where a level lacks its interpolation.
  Amg(const Context<T>& context, GridHierarchy hierarchy, const AmgOptions& options);
  /// Of levels that are in device memory. Collective.
  Amg(const Context<T>& context, DeviceHierarchy hierarchy, const AmgOptions& options);
  ~Amg() override;

  LocalIndex rows() const override;
  LocalIndex columns() const override { return rows(); }
  /// Of all levels.
  std::size_t bytes() const override;
  std::size_t work_bytes(LocalIndex cols) const override;
  void apply(ConstBlockView<T> x, BlockView<T> y) override { cycle(0, x, y); }
  /// Work space of all levels. Collective; throws on all ranks when one is out of memory.
  void reserve(LocalIndex columns) override;
  void limit_work_space(LocalIndex columns) override { most_columns_ = columns; }

  int levels() const { return static_cast<int>(levels_.size()) + 1; }
  /// Stored entries of all levels over those of the finest.
  double operator_complexity() const { return operator_complexity_; }
  /// "4 levels, operator complexity 1.6", and why there is no coarser level where its rows are still many.
  std::string description() const;
  /// False where there is one level, too large to be inverted: nothing but its smoother.
  bool coarsens() const { return levels() > 1 || coarse_smoother_ == nullptr; }
  /// The matrix as the cycle holds it; null where it holds its inverse instead.
  LinearOperator<T>* finest_matrix();

  // Of level 0, the finest, to levels() - 2; the coarsest has an inverse or a polynomial in their place.
  DistributedMatrix<T>& matrix(int level);
  /// From level + 1 to `level`.
  DistributedMatrix<T>& interpolation(int level);
  Chebyshev<T>& smoother(int level);
  /// y = what the cycle that begins on `level` makes of x: an approximate inverse of matrix(level), or of the
  /// coarsest one. Collective.
  void cycle(int level, ConstBlockView<T> x, BlockView<T> y);

 private:
  struct Level;
  /// The same for no more columns than there is work space for.
  void visit(int level, ConstBlockView<T> x, BlockView<T> y);
  void make_coarsest(GridLevel level, const AmgOptions& options);
  void make_coarsest(const aggregation::RowMoving& by, DeviceLevel level, const AmgOptions& options);
  /// Collective.
  std::unique_ptr<DistributedMatrix<T>> inverse_of(const aggregation::RowMoving& by,
                                                   const DeviceLevel& level) const;
  DistributedMatrix<T>* inverse_on(int level);
  /// Collective.
  void invert_on_host(const Partition& partition, const CsrRows& matrix);
  double noise() const;
  void correct(int level, ConstBlockView<T> x, BlockView<T> y);
  Level& at(int level) { return *levels_[static_cast<std::size_t>(level)]; }

  Context<T> context_;
  std::vector<std::unique_ptr<Level>> levels_;
  std::unique_ptr<DistributedMatrix<T>> coarse_matrix_;  ///< the pseudo-inverse, or the matrix that is smoothed
  std::unique_ptr<Chebyshev<T>> coarse_smoother_;        ///< null where the matrix is the pseudo-inverse
  double coarse_weight_;
  double operator_complexity_ = 1.0;
  CoarseningEnd ended_ = CoarseningEnd::none;
  LocalIndex reserved_ = 0;  ///< columns that there is work space for, on all ranks alike
  LocalIndex most_columns_ = LinearOperator<T>::no_limit;  ///< that there may be
};

}  // namespace block_eigs
