#pragma once

#include <cstdint>
#include <vector>

#include "solver/space/block_space.hpp"
#include "spmm/device/buffer.hpp"
#include "spmm/matrix/linear_operator.hpp"

namespace block_eigs {

/// The symmetric tridiagonal matrix T that Lanczos makes of D A D, D = diag(scale), step by step from a random
/// vector, by its three-term recurrence (Golub and Van Loan, Matrix Computations, 4th ed., section 10.1). Nothing
/// is orthogonalised again: for so few steps that copies of Ritz values do no harm.
template <class T>
class LanczosRecurrence {
 public:
  /// `scale` holds the own rows of D; null stands for D = I. All that is named lives longer than this. Collective.
  LanczosRecurrence(BlockSpace<T>& space, LinearOperator<T>& a, const Buffer<T>* scale, std::uint64_t seed);

  /// One more row of T. Only where there is something left to go on with: a start vector, and then a
  /// beside().back() that is not zero. Collective.
  void step();
  /// Whether there is a start vector, which spaces without dimensions have not.
  bool begun() const { return begun_; }
  const std::vector<double>& diagonal() const { return diagonal_; }
  /// Of rows i and i + 1; of the last row, the norm of what the next vector will be made of.
  const std::vector<double>& beside() const { return beside_; }

 private:
  BlockSpace<T>& space_;
  LinearOperator<T>& a_;
  const Buffer<T>* scale_;
  DenseBlock<T> v_, before_, image_, scaled_;
  bool begun_ = false;
  std::vector<double> diagonal_, beside_;
};

}  // namespace block_eigs
