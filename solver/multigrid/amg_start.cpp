#include <algorithm>
#include <utility>

#include "solver/lobpcg/lobpcg.hpp"
#include "solver/multigrid/amg_level.hpp"
#include "solver/space/block_space.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// Steps on the first level, from random vectors, and on the finer ones: what interpolation adds to the error is
/// more than further steps take off it.
constexpr int first_steps = 6;
constexpr int further_steps = 3;
constexpr double loose = 1e-2;
/// Levels must have this many rows a column to be of use.
constexpr GlobalIndex rows_per_column = 20;

}  // namespace

/// The cycle from a level on as a preconditioner of that level's matrix.
template <class T>
class Amg<T>::CycleFrom final : public LinearOperator<T> {
 public:
  CycleFrom(Amg& amg, std::size_t level) : amg_(amg), level_(level) {}
  LocalIndex rows() const override { return amg_.levels_[level_]->matrix.rows(); }
  LocalIndex columns() const override { return rows(); }
  void apply(ConstBlockView<T> x, BlockView<T> y) override { amg_.cycle(level_, x, y); }

 private:
  Amg& amg_;
  std::size_t level_;
};

template <class T>
DenseBlock<T> Amg<T>::start_vectors(LocalIndex columns, std::uint64_t seed) {
  try {
    return nested_iteration(columns, seed);
  } catch (const OnAllRanks&) {
    // On all ranks: lobpcg is collective. What coarse matrices are like is not for the user to know.
    return {};
  }
}

/// On the finer level, without the roughness that interpolation brings.
template <class T>
DenseBlock<T> Amg<T>::interpolated(Level& level, const DenseBlock<T>& coarse) {
  DenseBlock<T> fine(context_.device, level.matrix.rows(), coarse.cols());
  level.interpolation.apply(coarse.view(), fine.view());
  DenseBlock<T> other(context_.device, fine.rows(), fine.cols());
  level.smoother.smooth(fine.view(), other.view());
  return level.smoother.degree() % 2 == 1 ? std::move(other) : std::move(fine);
}

/// A few steps of lobpcg that nobody verifies.
template <class T>
DenseBlock<T> Amg<T>::sketched(DistributedMatrix<T>& a, LinearOperator<T>& cycle, const LobpcgOptions& options,
                               DenseBlock<T> initial) {
  BlockSpace<T> space(context_, a.row_partition());
  return approximate_eigenvectors<T>(space, a, &cycle, std::move(initial), options);
}

template <class T>
DenseBlock<T> Amg<T>::nested_iteration(LocalIndex columns, std::uint64_t seed) {
  std::size_t level = levels_.size();
  DenseBlock<T> vectors;
  while (level > 0) {
    --level;
    DistributedMatrix<T>& a = levels_[level]->matrix;
    if (vectors.cols() > 0) {
      vectors = interpolated(*levels_[level], vectors);
    }
    if (level == 0) break;
    if (a.row_partition().rows() < rows_per_column * columns) continue;
    LobpcgOptions options;
    options.pairs = columns;
    options.block_size = columns;
    options.tolerance = loose;
    options.max_iterations = vectors.cols() > 0 ? further_steps : first_steps;
    options.seed = seed;
    CycleFrom cycle(*this, level);
    vectors = sketched(a, cycle, options, std::move(vectors));
  }
  return vectors;
}

template DenseBlock<float> Amg<float>::start_vectors(LocalIndex, std::uint64_t);
template DenseBlock<double> Amg<double>::start_vectors(LocalIndex, std::uint64_t);

}  // namespace block_eigs
