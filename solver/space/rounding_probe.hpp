#pragma once

#include <array>
#include <vector>

#include "solver/space/block_space.hpp"
#include "spmm/device/buffer.hpp"
#include "spmm/matrix/linear_operator.hpp"

namespace block_eigs {

/// How large rounding errors in products with A get, where ||A|| ||x|| says too little because rows and columns
/// of A are of very different size. A x with random signs on the entries of x does not cancel as A x may:
/// the mean of ||A (s * x)||^2 over all signs s is sum_ij a_ij^2 x_j^2, and that of (s * x)^T A (s * x) is
/// sum_i a_ii x_i^2 (Hutchinson, Commun. Stat. Simul. 19, 1990). Two fixed sets of signs are tried and the larger
/// result counts.
template <class T>
class RoundingProbe {
 public:
  /// Kept by reference. Takes no memory before the first call.
  RoundingProbe(BlockSpace<T>& space, LinearOperator<T>& a) : space_(space), a_(a) {}

  /// Estimates of the norms of the columns of |A| |X|, rather too large than too small.
  /// `x` is as before afterwards, `ax` is used up. Collective; throws RunError on all ranks (memory).
  std::vector<double> product_scales(BlockView<T> x, BlockView<T> ax);
  /// Estimates of |x|^T |A| |x| for the columns of X, likewise.
  std::vector<double> quadratic_scales(BlockView<T> x, BlockView<T> ax);

 private:
  template <class Measure>
  std::vector<double> largest(BlockView<T> x, BlockView<T> ax, const Measure& measure);
  void make_signs();

  BlockSpace<T>& space_;
  LinearOperator<T>& a_;
  std::array<Buffer<T>, 2> signs_;
  bool made_ = false;  ///< on all ranks alike
};

}  // namespace block_eigs
