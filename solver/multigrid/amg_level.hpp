#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "solver/multigrid/amg.hpp"
#include "solver/multigrid/damped_diagonal.hpp"
#include "solver/multigrid/device_smoother.hpp"
#include "solver/preconditioner/jacobi.hpp"

namespace block_eigs {

/// A level of the cycle but the coarsest, with its work space.
template <class T>
struct Amg<T>::Level {
  /// `sums` of the matrix's rows: absolute_sums(). Collective.
  Level(const Context<T>& context, GridLevel&& level, const std::vector<double>& sums, const Partition& coarser,
        const AmgOptions& options)
      : matrix(context, std::move(level.matrix), level.partition, level.partition),
        interpolation(context, std::move(level.interpolation), level.partition, coarser),
        restriction(context, std::move(level.restriction), coarser, level.partition),
        twice(options.w_reduction * static_cast<double>(coarser.rows()) <=
              static_cast<double>(matrix.row_partition().rows())) {
    const DampedDiagonal d = damped_diagonal(context.comm, matrix.jacobi_diagonal(), sums);
    const bool constant_diagonal = is_constant(context.comm, d.entries);
    context.comm.collectively([&] {
      smoother = std::make_unique<Chebyshev<T>>(context, matrix, d.entries, d.bound,
                                                ChebyshevOptions{options.smoother_degree, options.smoother_ratio},
                                                constant_diagonal);
    });
  }

  /// Of a level in device memory. Collective.
  Level(const Context<T>& context, const aggregation::RowMoving& by, DeviceLevel&& level, const Partition& coarser,
        const AmgOptions& options)
      : matrix(context, parts_in_precision(context, by, std::move(level.matrix)), level.partition, level.partition,
               level.numbers),
        interpolation(context, parts_in_precision(context, by, std::move(level.interpolation)), level.partition,
                      coarser, nullptr),
        restriction(context, parts_in_precision(context, by, std::move(level.restriction)), coarser,
                    level.partition, nullptr),
        twice(options.w_reduction * static_cast<double>(coarser.rows()) <=
              static_cast<double>(level.partition.rows())) {
    context.comm.collectively([&] {
      smoother = device_smoother(context, *by.algebra, matrix, *level.numbers,
                                 ChebyshevOptions{options.smoother_degree, options.smoother_ratio});
    });
  }

  /// May fail on one rank alone. Not collective.
  void make_work_space(const Context<T>& context, LocalIndex columns) {
    for (DenseBlock<T>* block : {&residual, &correction})
      *block = DenseBlock<T>(context.device, matrix.rows(), columns);
    for (DenseBlock<T>* block : {&coarse_x, &coarse_y})
      *block = DenseBlock<T>(context.device, interpolation.columns(), columns);
    if (!twice) return;
    for (DenseBlock<T>* block : {&coarse_residual, &coarse_correction})
      *block = DenseBlock<T>(context.device, interpolation.columns(), columns);
  }

  /// Collective.
  void reserve_operators(LocalIndex columns) {
    for (LinearOperator<T>* operation :
         {static_cast<LinearOperator<T>*>(&matrix), static_cast<LinearOperator<T>*>(&interpolation),
          static_cast<LinearOperator<T>*>(&restriction), static_cast<LinearOperator<T>*>(&*smoother)})
      operation->reserve(columns);
    if (inverse) inverse->reserve(columns);
  }

  std::size_t bytes() const {
    return matrix.bytes() + interpolation.bytes() + restriction.bytes() + smoother->bytes() +
           (inverse ? inverse->bytes() : 0);
  }
  /// Of messages, the smoother and the two blocks on this level.
  std::size_t work_bytes(LocalIndex cols) const {
    return matrix.work_bytes(cols) + interpolation.work_bytes(cols) + restriction.work_bytes(cols) +
           smoother->work_bytes(cols) + 2 * DenseBlock<T>::bytes(matrix.rows(), cols);
  }

  DistributedMatrix<T> matrix;
  DistributedMatrix<T> interpolation;
  DistributedMatrix<T> restriction;
  std::unique_ptr<Chebyshev<T>> smoother;
  std::unique_ptr<DistributedMatrix<T>>
      inverse;  ///< what the cycle from here on is; null where levels are visited
  bool twice;   ///< the next level is visited twice
  DenseBlock<T> residual;
  DenseBlock<T> correction;
  DenseBlock<T> coarse_x;
  DenseBlock<T> coarse_y;
  DenseBlock<T> coarse_residual;
  DenseBlock<T> coarse_correction;
};

}  // namespace block_eigs
