#include "apps/journey/verify.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <span>

#include "solver/lobpcg/residual_test.hpp"
#include "solver/space/block_space.hpp"

namespace block_eigs {

namespace {

/// Columns verified at a time.
constexpr LocalIndex panel = 16;
/// A residual computed anew differs from the one that the solver judged by rounding errors in A x: by so many
/// units of those of the solver's arithmetic, and never by more than this factor.
constexpr double rounding = 2.0;
constexpr double slack = 1.02;

/// The norm of a residual that bounds the error of the eigenvalue: factor ||diag(weights) r||_2 + rounding, see
/// verify.
struct BoundNorm {
  double factor = 1.0;  ///< NaN where no bound is known
  std::vector<double> weights;
};

BoundNorm bound_norm(const Problem<double>& problem) {
  if (!problem.b) return {};
  const std::vector<double>& diagonal = problem.b->diagonal();
  const bool positive = std::all_of(diagonal.begin(), diagonal.end(), [](double d) { return d > 0.0; });
  constexpr double smallest_mu = 1e-3;
  const double mu = 2.0 - problem.b->scaled_gershgorin_bound();
  if (problem.context.comm.any(!positive) || mu < smallest_mu)
    return {std::numeric_limits<double>::quiet_NaN(), {}};
  BoundNorm norm{1.0 / std::sqrt(mu), {}};
  for (const double d : diagonal) norm.weights.push_back(1.0 / std::sqrt(d));
  return norm;
}

template <class T>
class Verifier {
 public:
  Verifier(Problem<double>& problem, const DenseBlock<T>& vectors, const LobpcgOptions& options)
      : problem_(problem),
        vectors_(vectors),
        convert_(make_kernels<T>(problem.context.device)),
        space_(problem.context, problem.partition),
        norm_(bound_norm(problem)),
        norm_a_(problem.a->norm_inf()),
        test_(options, norm_a_, problem.b ? problem.b->norm_inf() : 1.0, std::numeric_limits<T>::epsilon()),
        weights_(problem.context.device, norm_.weights.size()) {
    weights_.upload(norm_.weights.data());
    const LocalIndex cols = std::min(panel, vectors.cols());
    x_ = space_.make_block(cols);
    ax_ = space_.make_block(cols);
    r_ = space_.make_block(cols);
    if (problem.b) bx_ = space_.make_block(cols);
  }

  /// Appends the findings for columns first .. first + count - 1 to `result`, which has their eigenvalues.
  void columns(LocalIndex first, LocalIndex count, bool rayleigh, Verification& result) {
    const BlockView<double> x = x_.columns(0, count);
    const BlockView<double> ax = ax_.columns(0, count);
    const BlockView<double> bx = problem_.b ? bx_.columns(0, count) : x;
    convert_->convert(vectors_.columns(first, count), {}, x);
    problem_.a->apply(x, ax);
    if (problem_.b) problem_.b->apply(x, bx);
    const std::span<double> lambda(result.eigenvalues.data() + first, static_cast<std::size_t>(count));
    const std::vector<double> squares = space_.column_dots(x, bx);
    if (rayleigh) {
      const std::vector<double> energies = space_.column_dots(x, ax);
      for (std::size_t j = 0; j < lambda.size(); ++j) lambda[j] = energies[j] / squares[j];
    }
    const std::vector<double> norms = space_.column_norms(x);
    const std::vector<double> image_norms = space_.column_norms(bx);
    const std::vector<double> residuals = space_.residual(ax, bx, lambda, r_.columns(0, count));
    const std::vector<double> bounds = error_bounds(lambda, residuals, squares);
    const double unit = rounding * std::numeric_limits<T>::epsilon();
    const double norm_b = problem_.b ? problem_.b->norm_inf() : 1.0;
    for (std::size_t j = 0; j < lambda.size(); ++j) {
      result.residual_norms.push_back(residuals[j]);
      result.error_bounds.push_back(bounds[j]);
      const double error = unit * (norm_a_ + std::abs(lambda[j]) * norm_b) * norms[j];
      const double least = std::max(residuals[j] - error, residuals[j] / slack);
      result.outcomes.push_back(test_.judge(lambda[j], least, image_norms[j], norms[j]));
    }
  }

 private:
  /// From the residuals in r_ and their norms; `squares` holds x'Bx.
  std::vector<double> error_bounds(std::span<const double> lambda, const std::vector<double>& residuals,
                                   const std::vector<double>& squares) {
    std::vector<double> bounds = residuals;
    const double unit = std::numeric_limits<double>::epsilon() * static_cast<double>(problem_.longest_row + 2);
    if (problem_.b) {
      const BlockView<double> r = r_.columns(0, static_cast<LocalIndex>(lambda.size()));
      if (weights_.size() > 0) problem_.context.kernels->scale_rows(weights_.data(), r, r);
      bounds = space_.column_norms(r);
    }
    for (std::size_t j = 0; j < bounds.size(); ++j) {
      bounds[j] = norm_.factor * bounds[j] / std::sqrt(squares[j]);
      if (!problem_.b) bounds[j] += unit * (norm_a_ + std::abs(lambda[j]));
    }
    return bounds;
  }

  Problem<double>& problem_;
  const DenseBlock<T>& vectors_;
  std::shared_ptr<Kernels<T>> convert_;
  BlockSpace<double> space_;
  BoundNorm norm_;
  double norm_a_;
  ResidualTest test_;
  Buffer<double> weights_;
  DenseBlock<double> x_, ax_, bx_, r_;
};

}  // namespace

template <class T>
Verification verify(Problem<double>& problem, const DenseBlock<T>& vectors, const std::vector<double>& eigenvalues,
                    bool rayleigh, const LobpcgOptions& options) {
  Verification result;
  result.eigenvalues = eigenvalues;
  Verifier<T> verifier(problem, vectors, options);
  for (LocalIndex first = 0; first < vectors.cols(); first += panel) {
    verifier.columns(first, std::min(panel, vectors.cols() - first), rayleigh, result);
  }
  result.rigorous = std::none_of(result.error_bounds.begin(), result.error_bounds.end(),
                                 [](double bound) { return std::isnan(bound); });
  return result;
}

template <class T>
void sort_pairs(BlockSpace<T>& space, Verification& pairs, DenseBlock<T>& vectors, Which which) {
  const std::vector<double> values = pairs.eigenvalues;
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    return which == Which::smallest ? values[i] < values[j] : values[i] > values[j];
  });
  if (std::is_sorted(order.begin(), order.end())) return;
  const Verification before = pairs;
  SmallMatrix permutation(static_cast<int>(order.size()), static_cast<int>(order.size()));
  for (std::size_t j = 0; j < order.size(); ++j) {
    pairs.eigenvalues[j] = before.eigenvalues[order[j]];
    pairs.residual_norms[j] = before.residual_norms[order[j]];
    pairs.error_bounds[j] = before.error_bounds[order[j]];
    pairs.outcomes[j] = before.outcomes[order[j]];
    permutation(static_cast<int>(order[j]), static_cast<int>(j)) = 1.0;
  }
  space.update({vectors.view()}, permutation, {vectors.view()});
}

template void sort_pairs(BlockSpace<float>&, Verification&, DenseBlock<float>&, Which);
template void sort_pairs(BlockSpace<double>&, Verification&, DenseBlock<double>&, Which);
template Verification verify(Problem<double>&, const DenseBlock<float>&, const std::vector<double>&, bool,
                             const LobpcgOptions&);
template Verification verify(Problem<double>&, const DenseBlock<double>&, const std::vector<double>&, bool,
                             const LobpcgOptions&);

}  // namespace block_eigs
