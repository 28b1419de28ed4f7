#include "apps/journey/verify.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>

#include "apps/journey/pair_order.hpp"
#include "solver/lobpcg/product_sizes.hpp"
#include "solver/proof/smallest_eigenvalue.hpp"
#include "solver/small/dependent_columns.hpp"
#include "solver/space/block_space.hpp"

namespace block_eigs {

namespace {

/// Columns verified at a time.
constexpr LocalIndex panel = 16;
/// A residual computed anew differs from the one that the solver judged by rounding errors in A x: by so many
/// units of those of the solver's arithmetic, and never by more than this factor.
constexpr double rounding = 2.0;
constexpr double slack = 1.02;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// The norm of a residual that bounds the error of the eigenvalue: factor ||diag(weights) r||_2 + rounding, see
/// verify.
struct BoundNorm {
  BoundKind kind = BoundKind::rigorous;
  double factor = 1.0;  ///< NaN where no bound is known
  Buffer<double> weights;
};

BoundNorm bound_norm(BlockSpace<double>& space, const Problem<double>& problem) {
  if (!problem.b) return {};
  constexpr double smallest_mu = 1e-3;
  constexpr double probability = 1e-6;
  const std::vector<double>& diagonal = problem.b->diagonal();
  const bool positive = std::all_of(diagonal.begin(), diagonal.end(), [](double d) { return d > 0.0; });
  BoundNorm norm{BoundKind::unknown, std::numeric_limits<double>::quiet_NaN(), {}};
  if (problem.context.comm.any(!positive)) return norm;
  std::vector<double> weights;
  for (const double d : diagonal) weights.push_back(1.0 / std::sqrt(d));
  norm.weights = Buffer<double>(problem.context.device, weights.size());
  norm.weights.upload(weights.data());
  const double upper = problem.b->scaled_gershgorin_bound();
  norm.kind = BoundKind::rigorous;
  double mu = 2.0 - upper;
  if (mu < smallest_mu) {
    norm.kind = BoundKind::probable;
    mu = probable_smallest_eigenvalue(space, *problem.b, norm.weights, upper, probability);
  }
  if (!(mu >= smallest_mu)) norm.kind = BoundKind::unknown;
  norm.factor = mu >= smallest_mu ? 1.0 / std::sqrt(mu) : std::numeric_limits<double>::quiet_NaN();
  return norm;
}

/// What a residual is held against, the tolerance apart: see Convergence.
double residual_scale(Convergence convergence, double norm_a, double norm_b, double lambda, double image_norm,
                      double norm) {
  switch (convergence) {
    case Convergence::relative:
      return std::abs(lambda) * image_norm;
    case Convergence::norm:
      return (norm_a + std::abs(lambda) * norm_b) * norm;
    case Convergence::absolute:
      return 1.0;
  }
  return 1.0;
}

/// Of an arithmetic with this epsilon, where A x is made of sums of hundreds of terms: their errors grow with the
/// root of that number, also those of zeros of graphs, along which x is constant and each sum is rounded the same
/// way. Up to a hundred terms are in the residual test's own margin. By typical rows, not by the longest, for
/// errors of a few are few.
double with_long_rows(double epsilon, const Problem<double>& problem) {
  constexpr double in_margin = 100.0;
  const auto rows = static_cast<double>(problem.partition.rows());
  const auto entries = static_cast<double>(problem.a->global_nonzeros());
  return epsilon * std::sqrt(std::max(1.0, entries / rows / in_margin));
}

template <class T>
class Verifier {
 public:
  Verifier(Problem<double>& problem, const DenseBlock<T>& vectors, const LobpcgOptions& options,
           const RowNorms& norms)
      : problem_(problem),
        vectors_(vectors),
        convert_(make_kernels<T>(problem.context.device)),
        space_(problem.context, problem.partition),
        options_(options),
        norm_(bound_norm(space_, problem)),
        norms_(norms),
        test_(options,
              {norms.largest, problem.b ? problem.b->norm_inf() : 1.0, norms.typical, problem.b != nullptr},
              with_long_rows(std::numeric_limits<T>::epsilon(), problem)),
        sizes_(space_, *problem.a, problem.b.get()) {
    const LocalIndex cols = std::min(panel, vectors.cols());
    x_ = space_.make_block(cols);
    ax_ = space_.make_block(cols);
    r_ = space_.make_block(cols);
    problem.a->reserve(cols);
    if (problem.b) {
      bx_ = space_.make_block(cols);
      problem.b->reserve(cols);
    }
    rows_differ_ = problem.context.comm.any(!problem.a->row_sums().empty());
    if (rows_differ_) {
      row_sums_ = Buffer<double>(problem.context.device, problem.a->row_sums().size());
      row_sums_.upload(problem.a->row_sums().data());
    }
    if (vectors.cols() > panel) other_ = space_.make_block(cols);
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
    RitzPairs pairs;
    pairs.values.assign(lambda.begin(), lambda.end());
    pairs.norms = space_.column_norms(x);
    pairs.image_norms = space_.column_norms(bx);
    pairs.residuals = space_.residual(ax, bx, lambda, r_.columns(0, count));
    pairs.moves.assign(lambda.size(), 0.0);
    const std::vector<double> bounds = error_bounds(lambda, pairs.residuals, squares);
    const double unit = rounding * std::numeric_limits<T>::epsilon();
    const double norm_b = problem_.b ? problem_.b->norm_inf() : 1.0;
    const std::vector<double> along_earlier = compare_with_earlier(first, bx, result.orthonormality);
    const std::vector<double> residuals = pairs.residuals;
    for (std::size_t j = 0; j < lambda.size(); ++j) {
      const double error = unit * (norms_.largest + std::abs(lambda[j]) * norm_b) * pairs.norms[j];
      pairs.residuals[j] = std::max(residuals[j] - error, residuals[j] / slack);
    }
    sizes_.measure(test_, x, ax, pairs);
    for (std::size_t j = 0; j < lambda.size(); ++j) {
      result.residual_norms.push_back(residuals[j]);
      const auto attained = [&](Convergence convergence) {
        const double scale =
            residual_scale(convergence, norms_.largest, norm_b, lambda[j], pairs.image_norms[j], pairs.norms[j]);
        return residuals[j] > 0.0 ? residuals[j] / scale : 0.0;
      };
      result.attained.push_back(attained(options_.convergence));
      result.error_bounds.push_back(bounds[j]);
      const Outcome outcome = pairs.judge(test_, static_cast<int>(j));
      const RitzPair pair = pairs.pair(static_cast<int>(j));
      const bool lost = outcome == Outcome::at_accuracy_limit && says_nothing(pair);
      const bool copy = !(along_earlier[j] <= most_along_earlier);
      result.outcomes.push_back(lost || copy ? Outcome::not_converged : outcome);
      result.by_norm.push_back(copy || !test_.resolves(pair) ? infinity : attained(Convergence::norm));
    }
  }

  BoundKind bounds() const { return norm_.kind; }

 private:
  /// Whether rounding errors of float are larger than a value that is not zero beside a typical row either: double
  /// has more to give.
  bool says_nothing(const RitzPair& pair) const {
    if (std::is_same_v<T, double>) return false;
    const double zero = 100.0 * std::numeric_limits<T>::epsilon() * norms_.typical * pair.norm;
    return pair.residual > std::max(std::abs(pair.value) * pair.image_norm, zero);
  }
  /// For the columns of V from `first` on the squared lengths of what lies along earlier ones, in the inner
  /// product of B; the largest entry of |V^T B V - I| in these columns, and the rows up to them, is added to
  /// `deviation`. `bx` is B V of them, x_ the columns themselves.
  std::vector<double> compare_with_earlier(LocalIndex first, ConstBlockView<double> bx, double& deviation) {
    std::vector<double> along(static_cast<std::size_t>(bx.cols), 0.0);
    for (LocalIndex from = 0; from <= first; from += panel) {
      BlockView<double> v = x_.columns(0, bx.cols);
      if (from < first) {
        v = other_.columns(0, panel);
        convert_->convert(vectors_.columns(from, panel), {}, v);
      }
      SmallMatrix gram;
      space_.gram({v}, {bx}, gram);
      for (int j = 0; j < gram.cols(); ++j) {
        for (int i = 0; i < gram.rows(); ++i) {
          const double expected = from == first && i == j ? 1.0 : 0.0;
          deviation = std::max(deviation, std::abs(gram(i, j) - expected));
          if (from < first || i < j) along[static_cast<std::size_t>(j)] += gram(i, j) * gram(i, j);
        }
      }
    }
    return along;
  }
  /// Bounds of || |A| |x| || for the columns in x_: ||A||inf ||x||, or sqrt(m) ||D x||, D = diag(sum_j |a_ij|) and
  /// m the entries of the longest row, which is less where x is small in large rows. The latter by Schur's test:
  /// |A| D^-1 has column sums of 1, A being symmetric, and row sums of m at most. r_ is used up.
  std::vector<double> product_bounds(LocalIndex cols) {
    const BlockView<double> x = x_.columns(0, cols);
    std::vector<double> bounds = space_.column_norms(x);
    for (double& bound : bounds) bound *= problem_.a->norm_inf();
    if (!rows_differ_) return bounds;
    problem_.context.kernels->scale_rows(row_sums_.data(), x, r_.columns(0, cols));
    const std::vector<double> by_rows = space_.column_norms(r_.columns(0, cols));
    const double entries = std::sqrt(static_cast<double>(problem_.longest_row));
    for (std::size_t j = 0; j < bounds.size(); ++j) bounds[j] = std::min(bounds[j], entries * by_rows[j]);
    return bounds;
  }
  /// From the residuals in r_ and their norms; `squares` holds x'Bx.
  std::vector<double> error_bounds(std::span<const double> lambda, const std::vector<double>& residuals,
                                   const std::vector<double>& squares) {
    std::vector<double> bounds = residuals;
    const double unit = std::numeric_limits<double>::epsilon() * static_cast<double>(problem_.longest_row + 2);
    if (problem_.b) {
      const BlockView<double> r = r_.columns(0, static_cast<LocalIndex>(lambda.size()));
      if (norm_.kind != BoundKind::unknown) problem_.context.kernels->scale_rows(norm_.weights.data(), r, r);
      bounds = space_.column_norms(r);
    }
    const std::vector<double> sizes = problem_.b ? bounds : product_bounds(static_cast<LocalIndex>(lambda.size()));
    for (std::size_t j = 0; j < bounds.size(); ++j) {
      bounds[j] = norm_.factor * bounds[j] / std::sqrt(squares[j]);
      if (!problem_.b) bounds[j] += unit * (sizes[j] / std::sqrt(squares[j]) + std::abs(lambda[j]));
    }
    return bounds;
  }

  Problem<double>& problem_;
  const DenseBlock<T>& vectors_;
  std::shared_ptr<Kernels<T>> convert_;
  BlockSpace<double> space_;
  LobpcgOptions options_;
  BoundNorm norm_;
  bool rows_differ_ = false;  ///< on all ranks alike
  Buffer<double> row_sums_;
  RowNorms norms_;
  ResidualTest test_;
  ProductSizes<double> sizes_;
  DenseBlock<double> x_, ax_, bx_, r_, other_;
};

}  // namespace

template <class T>
Verification verify(Problem<double>& problem, const DenseBlock<T>& vectors, const std::vector<double>& eigenvalues,
                    bool rayleigh, const LobpcgOptions& options, const std::optional<RowNorms>& norms) {
  Verification result;
  result.eigenvalues = eigenvalues;
  result.requested = options.tolerance;
  Verifier<T> verifier(problem, vectors, options, norms ? *norms : row_norms(*problem.a));
  for (LocalIndex first = 0; first < vectors.cols(); first += panel) {
    verifier.columns(first, std::min(panel, vectors.cols() - first), rayleigh, result);
  }
  result.bounds = verifier.bounds();
  return result;
}

void give_up_missing(Verification& pairs, const Proof& proof) {
  const std::size_t count = std::min(pairs.outcomes.size(), static_cast<std::size_t>(std::max(proof.missing, 0)));
  std::fill_n(pairs.outcomes.rbegin(), count, Outcome::not_converged);
  std::fill_n(pairs.by_norm.rbegin(), count, infinity);
}

template <class T>
void sort_pairs(BlockSpace<T>& space, Verification& pairs, DenseBlock<T>& vectors, Which which) {
  const std::vector<std::size_t> order = pair_order(pairs.eigenvalues, which);
  if (order.empty()) return;
  pairs.eigenvalues = in_order(pairs.eigenvalues, order);
  pairs.residual_norms = in_order(pairs.residual_norms, order);
  pairs.attained = in_order(pairs.attained, order);
  pairs.by_norm = in_order(pairs.by_norm, order);
  pairs.error_bounds = in_order(pairs.error_bounds, order);
  pairs.outcomes = in_order(pairs.outcomes, order);
  space.permute_columns(vectors.view(), order);
}

template void sort_pairs(BlockSpace<float>&, Verification&, DenseBlock<float>&, Which);
template void sort_pairs(BlockSpace<double>&, Verification&, DenseBlock<double>&, Which);
template Verification verify(Problem<double>&, const DenseBlock<float>&, const std::vector<double>&, bool,
                             const LobpcgOptions&, const std::optional<RowNorms>&);
template Verification verify(Problem<double>&, const DenseBlock<double>&, const std::vector<double>&, bool,
                             const LobpcgOptions&, const std::optional<RowNorms>&);

}  // namespace block_eigs
