#pragma once

#include <utility>

#include "solver/multigrid/amg.hpp"
#include "solver/preconditioner/jacobi.hpp"

namespace block_eigs {

/// A block that grows to the widest view asked for.
template <class T>
BlockView<T> view_of(DenseBlock<T>& storage, const Context<T>& context, LocalIndex rows, LocalIndex cols) {
  if (storage.cols() < cols) storage = DenseBlock<T>(context.device, rows, cols);
  return {storage.view().data, rows, cols, DenseBlock<T>::padded(cols)};
}

/// A level of the cycle but the coarsest, with its work space.
template <class T>
struct Amg<T>::Level {
  Level(const Context<T>& context, GridLevel&& level, const Partition& coarser, const AmgOptions& options)
      : matrix(context, std::move(level.matrix), level.partition, level.partition),
        interpolation(context, std::move(level.interpolation), level.partition, coarser),
        restriction(context, std::move(level.restriction), coarser, level.partition),
        smoother(context, matrix, matrix.diagonal(), matrix.scaled_gershgorin_bound(),
                 {options.smoother_degree, options.smoother_ratio}, is_constant(context.comm, matrix.diagonal())),
        twice(options.w_reduction * static_cast<double>(coarser.rows()) <=
              static_cast<double>(matrix.row_partition().rows())) {}

  std::size_t bytes() const {
    return matrix.bytes() + interpolation.bytes() + restriction.bytes() + smoother.bytes();
  }
  /// Of messages, the smoother and the two blocks on this level.
  std::size_t work_bytes(LocalIndex cols) const {
    return matrix.work_bytes(cols) + interpolation.work_bytes(cols) + restriction.work_bytes(cols) +
           smoother.work_bytes(cols) + 2 * DenseBlock<T>::bytes(matrix.rows(), cols);
  }

  DistributedMatrix<T> matrix;
  DistributedMatrix<T> interpolation;
  DistributedMatrix<T> restriction;
  Chebyshev<T> smoother;
  bool twice;  ///< the next level is visited twice
  DenseBlock<T> residual;
  DenseBlock<T> correction;
  DenseBlock<T> coarse_x;
  DenseBlock<T> coarse_y;
  DenseBlock<T> coarse_residual;
  DenseBlock<T> coarse_correction;
};

}  // namespace block_eigs
