#include "solver/preconditioner/jacobi.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>

namespace block_eigs {

template <class T>
std::vector<T> inverse_diagonal(std::span<const double> diagonal) {
  using Range = InverseRange<T>;
  std::vector<T> inverse(diagonal.size());
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    const double d = std::abs(diagonal[i]);
    inverse[i] = static_cast<T>(d != 0.0 ? std::clamp(1.0 / d, Range::smallest, Range::largest) : 1.0);
  }
  return inverse;
}

bool is_constant(const Communicator& comm, std::span<const double> diagonal) {
  double least = std::numeric_limits<double>::infinity();
  double largest = -least;
  for (const double d : diagonal) {
    least = std::min(least, d);
    largest = std::max(largest, d);
  }
  largest = comm.max(largest);
  return -comm.max(-least) == largest && largest != 0.0;
}

template <class T>
double constant_diagonal(const DistributedMatrix<T>& a) {
  if (const MatrixNumbers* found = a.numbers_on_device()) return found->jacobi_constant;
  const std::vector<double>& diagonal = a.jacobi_diagonal();
  const Communicator& comm = a.context().comm;
  if (!is_constant(comm, diagonal)) return 0.0;
  // Of a rank that has rows: all that have some say the same.
  return comm.max(diagonal.empty() ? -std::numeric_limits<double>::infinity() : diagonal.front());
}

template <class T>
Buffer<T> inverse_on_device(const Context<T>& context, std::span<const double> diagonal) {
  Buffer<T> inverse(context.device, diagonal.size());
  inverse.upload(inverse_diagonal<T>(diagonal).data());
  return inverse;
}

template <class T>
Buffer<T> inverse_on_device(const DistributedMatrix<T>& a) {
  using Range = InverseRange<T>;
  const Context<T>& context = a.context();
  if (const MatrixNumbers* found = a.numbers_on_device()) {
    const std::shared_ptr<SparseAlgebra> algebra = make_sparse_algebra(context.device);
    Buffer<double> inverse = algebra->inverse_of(found->jacobi_diagonal(), Range::smallest, Range::largest);
    if constexpr (std::is_same_v<T, double>) {
      return inverse;
    } else {
      return algebra->to_float(inverse);
    }
  }
  return inverse_on_device<T>(context, a.jacobi_diagonal());
}

template <class T>
void Jacobi<T>::apply(ConstBlockView<T> x, BlockView<T> y) {
  context_.kernels->scale_rows(inverse_.data(), x, y);
}

template std::vector<float> inverse_diagonal(std::span<const double>);
template std::vector<double> inverse_diagonal(std::span<const double>);
template double constant_diagonal(const DistributedMatrix<float>&);
template double constant_diagonal(const DistributedMatrix<double>&);
template Buffer<float> inverse_on_device(const Context<float>&, std::span<const double>);
template Buffer<double> inverse_on_device(const Context<double>&, std::span<const double>);
template Buffer<float> inverse_on_device(const DistributedMatrix<float>&);
template Buffer<double> inverse_on_device(const DistributedMatrix<double>&);
template class Jacobi<float>;
template class Jacobi<double>;

}  // namespace block_eigs
