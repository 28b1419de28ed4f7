#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "io/source/matrix_source.hpp"
#include "solver/space/block_space.hpp"
#include "spmm/matrix/distributed_matrix.hpp"
#include "spmm/parallel/context.hpp"

namespace block_eigs::test {

/// A matrix on a backend and the space that it acts on.
template <class T>
struct Problem {
  explicit Problem(MatrixSource& source, Backend backend = Backend::host)
      : comm(MPI_COMM_WORLD),
        context(make_context<T>(comm, backend)),
        partition(Partition::uniform(source.rows(), comm.size())),
        matrix(context, source.read(partition), partition, partition),
        space(context, partition) {}

  Communicator comm;
  Context<T> context;
  Partition partition;
  DistributedMatrix<T> matrix;
  BlockSpace<T> space;
};

/// Passes products on and counts the columns.
template <class T>
class CountingOperator final : public LinearOperator<T> {
 public:
  explicit CountingOperator(LinearOperator<T>& inner) : inner_(inner) {}
  LocalIndex rows() const override { return inner_.rows(); }
  LocalIndex columns() const override { return inner_.columns(); }
  double norm_inf() const override { return inner_.norm_inf(); }
  void apply(ConstBlockView<T> x, BlockView<T> y) override {
    count += x.cols;
    inner_.apply(x, y);
  }

  long count = 0;

 private:
  LinearOperator<T>& inner_;
};

/// max |V^T V - I|
template <class T>
double orthogonality_error(BlockSpace<T>& space, const DenseBlock<T>& v) {
  SmallMatrix gram;
  space.gram({v.view()}, {v.view()}, gram);
  double error = 0.0;
  for (int j = 0; j < gram.cols(); ++j) {
    for (int i = 0; i < gram.rows(); ++i) error = std::max(error, std::abs(gram(i, j) - (i == j ? 1.0 : 0.0)));
  }
  return error;
}

}  // namespace block_eigs::test
