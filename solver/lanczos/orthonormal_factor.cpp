#include "solver/lanczos/orthonormal_factor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "solver/small/lapack.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// One round: columns behind the first `done` become those and, orthonormal, what stands out of the rest.
struct Round {
  SmallMatrix coefficients;  ///< of all columns, for those that are not done yet
  SmallMatrix along;         ///< of what is not done, along the others
  SmallMatrix lengths;       ///< and along new columns of Q
  SmallMatrix left;          ///< and along what is left then
};

/// [S; G] = [Q X]^T B X of the columns X that are left. What is told of X - Q S by G - S^T S.
Round make_round(const SmallMatrix& products, int done, double nothing) {
  constexpr double told_apart = 1e-10;
  const int width = products.cols();
  Round round;
  round.along.resize(done, width);
  for (int j = 0; j < width; ++j) std::copy_n(products.column(j), done, round.along.column(j));
  SmallMatrix vectors = lapack::product(round.along, true, round.along, false);
  for (int j = 0; j < width; ++j) {
    for (int i = 0; i < width; ++i)
      vectors(i, j) = 0.5 * (products(done + i, j) + products(done + j, i)) - vectors(i, j);
  }
  const std::vector<double> values = lapack::symmetric_eigen(vectors);
  const double least = std::max(told_apart * values.back(), nothing);
  const int small = static_cast<int>(std::lower_bound(values.begin(), values.end(), least) - values.begin());
  const int found = width - small;
  round.lengths.resize(found, width);
  round.left.resize(small, width);
  SmallMatrix turned(width, width);  // what stands out first
  for (int k = 0; k < width; ++k) {
    const bool stands_out = k >= small;
    const double length = stands_out ? std::sqrt(values[static_cast<std::size_t>(k)]) : 1.0;
    for (int i = 0; i < width; ++i) {
      if (stands_out) {
        round.lengths(k - small, i) = length * vectors(i, k);
        turned(i, k - small) = vectors(i, k) / length;
      } else {
        round.left(k, i) = vectors(i, k);
        turned(i, found + k) = vectors(i, k);
      }
    }
  }
  const SmallMatrix away = lapack::product(round.along, false, turned, false);
  round.coefficients.resize(done + width, width);
  for (int j = 0; j < width; ++j) {
    for (int i = 0; i < done; ++i) round.coefficients(i, j) = -away(i, j);
    for (int i = 0; i < width; ++i) round.coefficients(done + i, j) = turned(i, j);
  }
  return round;
}

/// Rows of `below` under those of `above`.
SmallMatrix stacked(const SmallMatrix& above, const SmallMatrix& below, int cols) {
  SmallMatrix result(above.rows() + below.rows(), cols);
  for (int j = 0; j < cols; ++j) {
    if (above.rows() > 0) std::copy_n(above.column(j), above.rows(), result.column(j));
    if (below.rows() > 0) std::copy_n(below.column(j), below.rows(), result.column(j) + above.rows());
  }
  return result;
}

}  // namespace

template <class T>
LocalIndex orthonormal_factor(BlockSpace<T>& space, LinearOperator<T>* b, BlockView<T> w, BlockView<T> bw,
                              SmallMatrix& r) {
  constexpr int most_rounds = 8;
  const double epsilon = std::numeric_limits<T>::epsilon();
  const int width = w.cols;
  r.resize(0, width);
  SmallMatrix left = SmallMatrix::identity(width);  // W = Q R + X left
  double nothing = 0.0;
  LocalIndex done = 0;
  for (int i = 0; i < most_rounds && done < width; ++i) {
    const LocalIndex open = left.rows();
    const BlockView<T> x = w.columns(done, open);
    SmallMatrix products;
    space.gram({w.columns(0, done), x}, {bw.columns(done, open)}, products);
    double largest = 0.0;
    for (int j = 0; j < open; ++j) {
      const double square = products(done + j, j);
      if (!std::isfinite(square)) throw NumericalError("lanczos: a vector holds values that are not finite");
      largest = std::max(largest, square);
    }
    if (i == 0) nothing = epsilon * epsilon * largest;
    if (!(largest > nothing)) break;
    Round round;
    space.solve_small([&] { round = make_round(products, done, nothing); },
                      {&round.coefficients, &round.along, &round.lengths, &round.left});
    space.update({w.columns(0, done), x}, round.coefficients, {x});
    if (b != nullptr) b->apply(x, bw.columns(done, open));
    const SmallMatrix along = lapack::product(round.along, false, left, false);
    for (std::size_t k = 0; k < along.values().size(); ++k) r.values()[k] += along.values()[k];
    r = stacked(r, lapack::product(round.lengths, false, left, false), width);
    left = lapack::product(round.left, false, left, false);
    done += round.lengths.rows();
  }
  return done;
}

template LocalIndex orthonormal_factor(BlockSpace<float>&, LinearOperator<float>*, BlockView<float>,
                                       BlockView<float>, SmallMatrix&);
template LocalIndex orthonormal_factor(BlockSpace<double>&, LinearOperator<double>*, BlockView<double>,
                                       BlockView<double>, SmallMatrix&);

}  // namespace block_eigs
