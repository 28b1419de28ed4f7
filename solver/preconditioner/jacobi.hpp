#pragma once

#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "spmm/device/buffer.hpp"
#include "spmm/matrix/distributed_matrix.hpp"
#include "spmm/matrix/linear_operator.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/context.hpp"

namespace block_eigs {

/// Between these a number of T leaves room for what is multiplied by it.
template <class T>
struct InverseRange {
  static constexpr double smallest = std::numeric_limits<T>::min();
  static constexpr double largest = sizeof(T) == sizeof(float) ? 0x1p+120 : 0x1p+1000;
};

/// 1 / |d|, and 1 where d = 0, as close as numbers of T that are neither zero nor near overflow come to it:
/// positive definite for any finite diagonal.
template <class T>
std::vector<T> inverse_diagonal(std::span<const double> diagonal);

/// Whether all ranks' entries of `diagonal` are one number other than zero. Then |D|^-1 is a multiple of the
/// identity, with which CG and LOBPCG make the same iterates as without: it need not be applied. Collective.
bool is_constant(const Communicator& comm, std::span<const double> diagonal);

/// What all entries of a.jacobi_diagonal() are, where they are one number other than zero; else 0. Collective.
template <class T>
double constant_diagonal(const DistributedMatrix<T>& a);

/// inverse_diagonal<T>(diagonal) in device memory. Not collective.
template <class T>
Buffer<T> inverse_on_device(const Context<T>& context, std::span<const double> diagonal);

/// The same of a.jacobi_diagonal(), made where that is. Not collective.
template <class T>
Buffer<T> inverse_on_device(const DistributedMatrix<T>& a);

/// y = |D|^-1 x
template <class T>
class Jacobi final : public LinearOperator<T> {
 public:
  /// `diagonal` holds own entries of D: DistributedMatrix::jacobi_diagonal(), say, or the diagonal of an A that is
  /// known to be positive definite. Not collective.
  Jacobi(const Context<T>& context, std::span<const double> diagonal)
      : Jacobi(context, inverse_on_device(context, diagonal)) {}
  /// `inverse`: of |D|.
  Jacobi(const Context<T>& context, Buffer<T> inverse) : context_(context), inverse_(std::move(inverse)) {}

  LocalIndex rows() const override { return static_cast<LocalIndex>(inverse_.size()); }
  LocalIndex columns() const override { return rows(); }
  void apply(ConstBlockView<T> x, BlockView<T> y) override;
  const T* row_factors() const override { return inverse_.data(); }
  std::size_t bytes() const override { return inverse_.size() * sizeof(T); }

 private:
  Context<T> context_;
  Buffer<T> inverse_;
};

}  // namespace block_eigs
