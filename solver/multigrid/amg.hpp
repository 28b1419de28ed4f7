#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "solver/preconditioner/chebyshev.hpp"
#include "spmm/matrix/dense_block.hpp"
#include "spmm/matrix/distributed_matrix.hpp"
#include "spmm/matrix/grid_levels.hpp"
#include "spmm/matrix/linear_operator.hpp"
#include "spmm/parallel/context.hpp"

namespace block_eigs {

struct LobpcgOptions;

struct AmgOptions {
  int smoother_degree = 2;
  double smoother_ratio = 5.0;       ///< the smoother works on [bound / ratio, bound] of the spectrum of D^-1 A
  double w_reduction = 4.0;          ///< a level with at least so many times fewer rows than the one above is
                                     ///< visited twice: that bounds the work of a cycle
  GlobalIndex largest_dense = 4096;  ///< coarsest levels of more rows are not solved, but smoothed
};

/// One W-cycle for A y = x on all columns at once, from zero (a V-cycle where coarsening is slow). The smoother
/// before and after the coarse correction is the same Chebyshev polynomial, the coarsest level is solved by its
/// pseudo-inverse (or, where coarsening has ended early for want of couplings, by a longer polynomial), and the
/// restriction is the transposed interpolation: the cycle is a symmetric positive definite operator.
template <class T>
class Amg final : public LinearOperator<T> {
 public:
  /// Consumes the levels. Collective. Throws InputError where a level lacks its interpolation.
  Amg(const Context<T>& context, GridHierarchy hierarchy, const AmgOptions& options);
  ~Amg() override;

  LocalIndex rows() const override;
  LocalIndex columns() const override { return rows(); }
  void apply(ConstBlockView<T> x, BlockView<T> y) override;
  /// Of all levels.
  std::size_t bytes() const override;
  std::size_t work_bytes(LocalIndex cols) const override;

  /// Approximate eigenvectors of the matrix for its smallest eigenvalues, to start from: those of a coarse level,
  /// refined level by level by a few steps of lobpcg with the cycle below it, interpolated and smoothed (nested
  /// iteration). Coarse masses are taken as the identity. Own rows of n x `columns`, random numbers from `seed`;
  /// without columns where there is no level between the finest and the coarsest, none has enough rows, or lobpcg
  /// fails there. Collective.
  DenseBlock<T> start_vectors(LocalIndex columns, std::uint64_t seed);

  /// The matrix as the cycle holds it; null where the finest level is the coarsest.
  LinearOperator<T>* finest_matrix();
  int levels() const { return static_cast<int>(levels_.size()) + 1; }
  /// Stored entries of all levels over those of the finest.
  double operator_complexity() const { return operator_complexity_; }

 private:
  struct Level;
  class CycleFrom;
  DenseBlock<T> nested_iteration(LocalIndex columns, std::uint64_t seed);
  DenseBlock<T> sketched(DistributedMatrix<T>& a, LinearOperator<T>& cycle, const LobpcgOptions& options,
                         DenseBlock<T> initial);
  DenseBlock<T> interpolated(Level& level, const DenseBlock<T>& coarse);
  void make_coarsest(GridLevel level, const AmgOptions& options);
  void cycle(std::size_t level, ConstBlockView<T> x, BlockView<T> y);
  void correct(std::size_t level, ConstBlockView<T> x, BlockView<T> y);

  Context<T> context_;
  std::vector<std::unique_ptr<Level>> levels_;
  std::unique_ptr<DistributedMatrix<T>> coarse_matrix_;  ///< the pseudo-inverse, or the matrix that is smoothed
  std::unique_ptr<Chebyshev<T>> coarse_smoother_;        ///< null where the matrix is the pseudo-inverse
  double operator_complexity_ = 1.0;
};

}  // namespace block_eigs
