#include "solver/multigrid/nested_iteration.hpp"

#include <algorithm>
#include <utility>

#include "solver/lobpcg/lobpcg.hpp"
#include "solver/space/block_space.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// Iterations on the first level, from random vectors, and on the finer ones: what interpolation adds to the error
/// is more than further iterations take off it.
constexpr int first_iterations = 6;
constexpr int further_iterations = 3;
constexpr double loose = 1e-2;
/// Levels must have this many rows a column to be of use.
constexpr GlobalIndex rows_per_column = 20;

/// The cycle from a level on as a preconditioner of that level's matrix.
template <class T>
class CycleFrom final : public LinearOperator<T> {
 public:
  CycleFrom(Amg<T>& amg, int level) : amg_(amg), level_(level) {}
  LocalIndex rows() const override { return amg_.matrix(level_).rows(); }
  LocalIndex columns() const override { return rows(); }
  void apply(ConstBlockView<T> x, BlockView<T> y) override { amg_.cycle(level_, x, y); }
  void reserve(LocalIndex columns) override { amg_.reserve(columns); }
  void limit_work_space(LocalIndex columns) override { amg_.limit_work_space(columns); }

 private:
  Amg<T>& amg_;
  int level_;
};

/// `coarse` on `level`, without the roughness that interpolation brings.
template <class T>
DenseBlock<T> interpolated(Amg<T>& amg, int level, BlockSpace<T>& space, const DenseBlock<T>& coarse) {
  DenseBlock<T> fine = space.make_block(coarse.cols());
  amg.interpolation(level).apply(coarse.view(), fine.view());
  DenseBlock<T> other = space.make_block(coarse.cols());
  Chebyshev<T>& smoother = amg.smoother(level);
  smoother.smooth(fine.view(), other.view());
  return smoother.degree() % 2 == 1 ? std::move(other) : std::move(fine);
}

template <class T>
DenseBlock<T> from_coarse_to_fine(Amg<T>& amg, LocalIndex columns, std::uint64_t seed) {
  DenseBlock<T> vectors;
  for (int level = amg.levels() - 2; level >= 0; --level) {
    DistributedMatrix<T>& a = amg.matrix(level);
    BlockSpace<T> space(a.context(), a.row_partition());
    if (vectors.cols() > 0) vectors = interpolated(amg, level, space, vectors);
    if (level == 0 || space.dimension() < rows_per_column * columns) continue;
    LobpcgOptions options;
    options.pairs = columns;
    options.block_size = columns;
    options.tolerance = loose;
    options.max_iterations = vectors.cols() > 0 ? further_iterations : first_iterations;
    options.seed = seed;
    CycleFrom<T> cycle(amg, level);
    vectors = approximate_eigenvectors<T>(space, a, &cycle, std::move(vectors), options);
  }
  return vectors;
}

}  // namespace

template <class T>
DenseBlock<T> nested_iteration(Amg<T>& amg, LocalIndex columns, std::uint64_t seed) {
  try {
    return from_coarse_to_fine(amg, columns, seed);
  } catch (const OnAllRanks&) {
    // Start vectors are a help, and coarse matrices may be such that LOBPCG cannot give any. An error of one rank
    // alone goes on its way: the others are still in the middle of it.
    return {};
  }
}

template DenseBlock<float> nested_iteration(Amg<float>&, LocalIndex, std::uint64_t);
template DenseBlock<double> nested_iteration(Amg<double>&, LocalIndex, std::uint64_t);

}  // namespace block_eigs
