#include "solver/space/orthonormalize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "solver/small/lapack.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// What one pass found: w <- [against w] coefficients, and the smallest squared sine of the angle between a
/// column and the span of those before it.
struct Pass {
  SmallMatrix coefficients;
  double smallest_pivot = 0.0;
  bool projected_alone = false;  ///< columns were scaled to norm 1 and projected, not made orthonormal
};

/// Factors that scale the columns of w to B-norm 1; 0 for a column of a squared norm of `nothing` or less.
std::vector<double> column_scales(const SmallMatrix& gram, int against, double nothing) {
  std::vector<double> scales(static_cast<std::size_t>(gram.cols()));
  for (int j = 0; j < gram.cols(); ++j) {
    const double squared = gram(against + j, j);
    scales[static_cast<std::size_t>(j)] = squared > nothing ? 1.0 / std::sqrt(squared) : 0.0;
  }
  return scales;
}

/// Gram matrix of the scaled columns after projection: D (W^T W - S^T S) D.
SmallMatrix projected_gram(const SmallMatrix& s, const SmallMatrix& gram, const std::vector<double>& scales) {
  const int width = gram.cols();
  SmallMatrix projected = lapack::product(s, true, s, false);
  for (int j = 0; j < width; ++j) {
    for (int i = 0; i < width; ++i) {
      const double scale = scales[static_cast<std::size_t>(i)] * scales[static_cast<std::size_t>(j)];
      const double symmetric = 0.5 * (gram(s.rows() + i, j) + gram(s.rows() + j, i));
      projected(i, j) = scale * (symmetric - projected(i, j));
    }
  }
  return projected;
}

/// T with T^T projected T = I on the directions that are large enough; width x kept.
SmallMatrix inverse_root(const SmallMatrix& projected, double accept, double drop, double& smallest_pivot) {
  const int width = projected.rows();
  SmallMatrix factor = projected;
  smallest_pivot = 0.0;
  if (lapack::cholesky(factor)) {
    smallest_pivot = 1.0;
    for (int j = 0; j < width; ++j) smallest_pivot = std::min(smallest_pivot, factor(j, j) * factor(j, j));
    if (smallest_pivot >= accept) {
      SmallMatrix root = SmallMatrix::identity(width);
      lapack::solve_lower_transposed(factor, root);
      return root;
    }
  }
  SmallMatrix vectors = projected;
  const std::vector<double> values = lapack::symmetric_eigen(vectors);
  int first = 0;
  while (first < width && values[static_cast<std::size_t>(first)] <= drop) ++first;
  SmallMatrix root(width, width - first);
  for (int j = first; j < width; ++j) {
    const double scale = 1.0 / std::sqrt(values[static_cast<std::size_t>(j)]);
    for (int i = 0; i < width; ++i) root(i, j - first) = vectors(i, j) * scale;
  }
  smallest_pivot = std::min(smallest_pivot, first < width ? values[static_cast<std::size_t>(first)] : 1.0);
  return root;
}

/// Whether so much of some column lies along `against` that what is left cannot be told from the difference of two
/// Gram matrices.
bool cancels(const SmallMatrix& projected, const std::vector<double>& scales) {
  constexpr double told_apart = 1e-6;
  for (int j = 0; j < projected.cols(); ++j) {
    if (scales[static_cast<std::size_t>(j)] > 0.0 && projected(j, j) < told_apart) return true;
  }
  return false;
}

/// What one pass does, from [against w]^T B w. Where columns cancel it scales and projects alone, so that the next
/// one sees what is left: there, after this, a column as short as `nothing` is rounding errors of a dependent one.
Pass make_pass(const SmallMatrix& gram, double accept, double drop, double nothing, bool may_project) {
  const int width = gram.cols();
  const int against = gram.rows() - width;
  const std::vector<double> scales = column_scales(gram, against, nothing);
  SmallMatrix s(against, width);
  for (int j = 0; j < width; ++j) std::copy_n(gram.column(j), against, s.column(j));
  Pass pass;
  const SmallMatrix projected = projected_gram(s, gram, scales);
  pass.projected_alone = may_project && against > 0 && cancels(projected, scales);
  SmallMatrix root = pass.projected_alone ? SmallMatrix::identity(width)
                                          : inverse_root(projected, accept, drop, pass.smallest_pivot);
  for (int j = 0; j < root.cols(); ++j) {
    for (int i = 0; i < width; ++i) root(i, j) *= scales[static_cast<std::size_t>(i)];
  }
  const SmallMatrix projection = lapack::product(s, false, root, false);
  pass.coefficients.resize(gram.rows(), root.cols());
  for (int j = 0; j < root.cols(); ++j) {
    for (int i = 0; i < against; ++i) pass.coefficients(i, j) = -projection(i, j);
    for (int i = 0; i < width; ++i) pass.coefficients(against + i, j) = root(i, j);
  }
  return pass;
}

/// Whether some w^T B w is negative.
bool has_negative(const SmallMatrix& gram) {
  const int against = gram.rows() - gram.cols();
  for (int j = 0; j < gram.cols(); ++j) {
    if (gram(against + j, j) < 0.0) return true;
  }
  return false;
}

/// Throws InputError where some w^T B w is negative beyond rounding errors, B w being computed and not carried.
template <class T>
void check_positive(BlockSpace<T>& space, const SmallMatrix& gram, ConstBlockView<T> w, ConstBlockView<T> bw) {
  constexpr double roundings = 1e4;
  const int against = gram.rows() - gram.cols();
  const std::vector<double> norms = space.column_norms(w);
  const std::vector<double> image_norms = space.column_norms(bw);
  for (int j = 0; j < gram.cols(); ++j) {
    const auto i = static_cast<std::size_t>(j);
    const double noise = roundings * std::numeric_limits<T>::epsilon() * norms[i] * image_norms[i];
    if (gram(against + j, j) >= -noise) continue;
    space.comm().collectively([&] {
      if (!space.comm().is_root()) return;
      const char* rounded =
          std::is_same_v<T, float> ? ", with its entries rounded to float (try precision: double)" : "";
      throw InputError(fmt::format(
          "the mass matrix B is not positive definite{}: x'Bx is negative for a vector x that came up", rounded));
    });
  }
}

template <class T>
ConstBlockList<T> with(const ConstBlockList<T>& list, ConstBlockView<T> last) {
  const auto at = [&](int i) { return i < list.size() ? list[i] : ConstBlockView<T>{}; };
  return {at(0), at(1), at(2), last};
}

}  // namespace

template <class T>
LocalIndex orthonormalize(BlockSpace<T>& space, const ConstBlockList<T>& against, BlockView<T> w, BlockView<T> bw,
                          const ConstBlockList<T>& b_against, Orthonormality goal, LinearOperator<T>* b,
                          const SmallMatrix* products) {
  const double epsilon = std::numeric_limits<T>::epsilon();
  // A pass loses about epsilon / pivot of orthogonality; from this pivot on that is small enough to be
  // corrected by coefficients alone.
  const double accept = 100.0 * std::sqrt(epsilon);
  constexpr int most_passes = 5;
  SmallMatrix gram;
  Pass pass;
  bool projected_alone = false;
  for (int i = 0; i < most_passes && w.cols > 0; ++i) {
    if (i == 0 && products != nullptr) {
      gram = *products;
    } else {
      space.gram(with<T>(against, w), {bw}, gram);
    }
    for (const double value : gram.values()) {
      if (!std::isfinite(value)) throw NumericalError("orthonormalize: a vector holds values that are not finite");
    }
    if (i == 0 && bw.data != w.data && has_negative(gram)) {
      // The image may have come by coefficients that amplified its rounding errors.
      if (b != nullptr) {
        b->apply(w, bw);
        space.gram(with<T>(against, w), {bw}, gram);
      }
      check_positive<T>(space, gram, w, bw);
    }
    SmallMatrix pivot;
    space.solve_small(
        [&] {
          const double nothing = projected_alone ? 1e4 * epsilon * epsilon : 0.0;
          pass = make_pass(gram, accept, 10.0 * epsilon * std::max(gram.rows(), 10), nothing, i == 0);
          pivot.resize(2, 1);
          pivot(0, 0) = pass.smallest_pivot;
          pivot(1, 0) = pass.projected_alone ? 1.0 : 0.0;
        },
        {&pass.coefficients, &pivot});
    projected_alone = pivot(1, 0) != 0.0;
    const LocalIndex kept = pass.coefficients.cols();
    const bool separate_image = bw.data != w.data;
    space.update(with<T>(against, w), pass.coefficients, {w.columns(0, kept)});
    w = w.columns(0, kept);
    const bool amplified = pivot(0, 0) < accept;
    if (separate_image && !(amplified && b != nullptr))
      space.update(with<T>(b_against, bw), pass.coefficients, {bw.columns(0, kept)});
    bw = separate_image ? bw.columns(0, kept) : w;
    if (separate_image && amplified && b != nullptr && kept > 0) b->apply(w, bw);
    const double done = goal == Orthonormality::to_rounding ? 0.5 : accept;
    if (pivot(0, 0) >= done) return w.cols;
  }
  // Columns that five passes have not made independent are rounding errors of others.
  return 0;
}

template LocalIndex orthonormalize(BlockSpace<float>&, const ConstBlockList<float>&, BlockView<float>,
                                   BlockView<float>, const ConstBlockList<float>&, Orthonormality,
                                   LinearOperator<float>*, const SmallMatrix*);
template LocalIndex orthonormalize(BlockSpace<double>&, const ConstBlockList<double>&, BlockView<double>,
                                   BlockView<double>, const ConstBlockList<double>&, Orthonormality,
                                   LinearOperator<double>*, const SmallMatrix*);

}  // namespace block_eigs
