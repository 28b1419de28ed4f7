#include "solver/proof/probe.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "solver/proof/deflation.hpp"
#include "solver/proof/shifted_operator.hpp"
#include "solver/small/lapack.hpp"
#include "solver/space/orthonormalize.hpp"

namespace block_eigs {

namespace {

/// Of the numbers that fill_random draws.
constexpr double variance = 1.0 / 3.0;
/// The logarithm of how much of a deflated vector may come back from rounding errors between two projections.
constexpr double largest_return = 12.0;

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

double or_zero(double value) { return std::isfinite(value) ? value : 0.0; }

/// Numbers of a probe, in units of eigenvalues unless said otherwise.
struct Scales {
  double sigma = 0.0;   ///< the last found value
  double margin = 0.0;  ///< within which the found values are known
  double spread = 0.0;  ///< of the found values, or what stands for it where there is none
  double reach = 0.0;   ///< farther before sigma no eigenvalue is looked for
};

template <class T>
double accuracy(BlockSpace<T>& space, const ProbeOperators<T>& operators, const FoundPairs<T>& found,
                ConstBlockView<T> images) {
  const double norm_a = or_zero(operators.a.norm_inf());
  const double norm_b = operators.b != nullptr ? or_zero(operators.b->norm_inf()) : 1.0;
  const std::vector<double> norms = space.column_norms(found.vectors);
  const std::vector<double> image_norms = space.column_norms(images);
  double most = 0.0;
  for (std::size_t j = 0; j < norms.size(); ++j) {
    const double rounding =
        std::numeric_limits<T>::epsilon() * (norm_a + std::abs(found.values[j]) * norm_b) * norms[j];
    most = std::max(most, (found.residual_norms[j] + rounding) / image_norms[j]);
  }
  return 10.0 * most;
}

template <class T>
Scales find_scales(BlockSpace<T>& space, const ProbeOperators<T>& operators, const FoundPairs<T>& found,
                   ConstBlockView<T> images) {
  Scales scales;
  scales.sigma = found.values.back();
  scales.margin = accuracy(space, operators, found, images);
  const double width = std::abs(found.values.back() - found.values.front());
  scales.spread = std::max({width, 0.01 * std::abs(scales.sigma), scales.margin});
  const double norm = operators.b == nullptr ? or_zero(operators.a.norm_inf()) : 0.0;
  scales.reach = 2.0 * std::max({std::abs(scales.sigma), std::abs(found.values.front()), scales.spread, norm});
  return scales;
}

/// x <- M^-1 of random numbers, and how M^-1 takes the last found vectors, which stand for those that were missed
/// (see the theory): in one go, for a narrow block costs as much as one twice as wide.
template <class T>
void start(ShiftedOperator<T>& t, BlockSpace<T>& space, const Deflation<T>& deflation, LinearOperator<T>* m,
           std::uint64_t seed, DenseBlock<T>& x, ProbeStatistics& statistics) {
  if (m == nullptr && t.plain()) {
    space.fill_random(x.view(), seed);
    return;
  }
  const ConstBlockView<T> images = deflation.images()[0];
  const LocalIndex count = std::min(x.cols(), images.cols);
  DenseBlock<T> in = space.make_block(count + x.cols());
  DenseBlock<T> out = space.make_block(count + x.cols());
  const BlockView<T> bv = in.columns(0, count);
  const BlockView<T> z = out.columns(0, count);
  space.copy(images.columns(images.cols - count, count), bv);
  space.fill_random(in.columns(count, x.cols()), seed);
  if (m != nullptr) {
    const Profile::Scope scope(space.profile(), Phase::preconditioner);
    m->reserve(in.cols());
    m->apply(in.view(), out.view());
  } else {
    space.copy(in.view(), out.view());
  }
  const std::vector<double> responses = space.column_dots(bv, z);
  const std::vector<double> overlaps = space.column_norms(z);
  statistics.response = *std::min_element(responses.begin(), responses.end());
  statistics.overlap = *std::min_element(overlaps.begin(), overlaps.end());
  space.copy(out.columns(count, x.cols()), x.view());
}

/// The interval that suits a filter of so many degrees: what lies just behind sigma may grow as well, but no more
/// than the filter takes off the bulk of the spectrum, whose energy is that of the start block.
ProbeFilter choose_filter(double start_energy, double upper, int degree, const Scales& scales,
                          const ProbeStatistics& statistics) {
  const double bulk = start_energy / (scales.spread * statistics.overlap * statistics.overlap);
  const double growth = std::max(0.5 * std::log(std::max(bulk, 1.0)) + 1.5, 2.0);
  const double at_sigma = std::cosh(growth / degree);
  return {upper * std::min((at_sigma - 1.0) / (at_sigma + 1.0), 0.5), upper, degree};
}

/// Of the eigenvalues of T; 0 where none is known.
template <class T>
double upper_bound(const ProbeOperators<T>& operators, Which which, double sigma) {
  if (operators.preconditioner != nullptr) return operators.spectral_bound;
  const double norm = or_zero(operators.a.norm_inf());
  if (operators.b == nullptr) return norm > 0.0 ? norm - (which == Which::smallest ? sigma : -sigma) : 0.0;
  return norm > 0.0 ? norm + std::abs(sigma) * or_zero(operators.b->norm_inf()) : 0.0;
}

/// x <- p(T) x, p = 1 at sigma. `tx` is T x; `x` and `before` change places as the recurrence goes.
template <class T>
void apply_filter(ShiftedOperator<T>& t, BlockSpace<T>& space, Deflation<T>& deflation, const ProbeFilter& filter,
                  double deepest, const DenseBlock<T>& tx, DenseBlock<T>& x, DenseBlock<T>& before) {
  const double center = 0.5 * (filter.upper + filter.lower);
  const double half_width = 0.5 * (filter.upper - filter.lower);
  const double at_sigma = center / half_width;
  const double period = std::max(std::floor(largest_return / std::max(filter.growth(deepest), 1e-3)), 1.0);
  ProductStep<T> first;
  first.alpha = -1.0 / center;
  first.beta = 1.0;
  space.kernels().combine(first, tx.view(), x.view(), before.view());
  std::swap(x, before);
  double rho = 1.0 / at_sigma;
  for (int k = 1; k < filter.degree; ++k) {
    const double next = 1.0 / (2.0 * at_sigma - rho);
    t.step(-2.0 * next / half_width, 2.0 * next * center / half_width, -next * rho, x.view(), before.view());
    std::swap(x, before);
    rho = next;
    if (t.plain() && k % static_cast<int>(period) == 0) {
      deflation.remove_from(x.view());
      deflation.remove_from(before.view());
    }
  }
}

/// Ritz pairs of the filtered block that lie before sigma.
template <class T>
void find_missed(BlockSpace<T>& space, const ProbeOperators<T>& operators, const Deflation<T>& deflation,
                 const FoundPairs<T>& found, const Scales& scales, DenseBlock<T>& x, ProbeResult<T>& result) {
  DenseBlock<T> bx = space.make_block(operators.b != nullptr ? x.cols() : 0);
  const BlockView<T> images = operators.b != nullptr ? bx.view() : x.view();
  if (operators.b != nullptr) operators.b->apply(x.view(), bx.view());
  const LocalIndex count = orthonormalize<T>(space, deflation.vectors(), x.view(), images, deflation.images(),
                                             Orthonormality::to_rounding);
  if (count == 0) return;
  const BlockView<T> basis = x.columns(0, count);
  DenseBlock<T> ax = space.make_block(count);
  operators.a.apply(basis, ax.view());
  result.products += count;
  SmallMatrix vectors;
  space.gram({basis}, {ax.view()}, vectors);
  SmallMatrix values(count, 1);
  space.on_root(
      [&] {
        const std::vector<double> ritz = lapack::symmetric_eigen(vectors);
        std::copy(ritz.begin(), ritz.end(), values.data());
      },
      {&vectors, &values});
  SmallMatrix chosen(count, count);
  int missed = 0;
  for (int j = 0; j < count; ++j) {
    const int from = found.which == Which::smallest ? j : count - 1 - j;
    const double before = (scales.sigma - values(from, 0)) * (found.which == Which::smallest ? 1.0 : -1.0);
    if (!(before > scales.margin)) break;
    std::copy_n(vectors.column(from), count, chosen.column(missed++));
    result.missed_values.push_back(values(from, 0));
  }
  if (missed == 0) return;
  space.update({basis}, chosen, {basis});
  result.missed = space.make_block(missed);
  space.copy(x.columns(0, missed), result.missed.view());
}

}  // namespace

template <class T>
ProbeResult<T> probe(BlockSpace<T>& space, const ProbeOperators<T>& operators, const FoundPairs<T>& found,
                     const ProbeOptions& options) {
  constexpr LocalIndex columns = probe_columns<T>();
  Deflation<T> deflation(space, operators.b, found.vectors, found.constraints);
  const Scales scales = find_scales(space, operators, found, deflation.images()[0]);
  ShiftedOperator<T> t(space, operators, deflation, found.which, scales.sigma, columns);
  DenseBlock<T> x = space.make_block(columns);
  DenseBlock<T> y = space.make_block(columns);
  DenseBlock<T> tx = space.make_block(columns);
  ProbeStatistics statistics{.columns = columns};
  start(t, space, deflation, operators.preconditioner, options.seed, x, statistics);
  deflation.remove_from(x.view());
  deflation.remove_from(x.view());
  t.shifted(x.view(), y.view());
  const double start_energy = sum(space.column_dots(x.view(), y.view())) / (variance * columns);
  t.preconditioned(y.view(), tx.view());
  double upper = upper_bound(operators, found.which, scales.sigma);
  if (!(upper > 0.0)) {
    const double quotient = sum(space.column_dots(y.view(), tx.view())) / (start_energy * variance * columns);
    upper = 1.5 * or_zero(quotient);
  }

  ProbeResult<T> result;
  result.calibrated = !t.plain();
  result.smallest_gap = std::numeric_limits<double>::infinity();
  ProbeFilter filter;
  if (upper > 0.0 && options.degree > 0) {
    filter = choose_filter(start_energy, upper, options.degree, scales, statistics);
    const double deepest = -std::abs(scales.sigma - found.values.front()) * statistics.response;
    apply_filter(t, space, deflation, filter, deepest, tx, x, y);
    deflation.remove_from(x.view());
    deflation.remove_from(x.view());
    t.shifted(x.view(), y.view());
    const double energy = sum(space.column_dots(x.view(), y.view())) / variance;
    statistics.energy = energy * std::exp(2.0 * filter.log_value(0.0));
    const double gap = smallest_visible_gap(statistics, filter, options.probability, scales.reach);
    result.smallest_gap = std::max(gap, scales.margin);
  }
  find_missed(space, operators, deflation, found, scales, x, result);
  result.products += t.products();
  return result;
}

template <class T>
double known_within(BlockSpace<T>& space, const ProbeOperators<T>& operators, const FoundPairs<T>& found) {
  if (operators.b == nullptr) return accuracy(space, operators, found, found.vectors);
  DenseBlock<T> images = space.make_block(found.vectors.cols);
  operators.b->apply(found.vectors, images.view());
  return accuracy(space, operators, found, ConstBlockView<T>(images.view()));
}

template double known_within(BlockSpace<float>&, const ProbeOperators<float>&, const FoundPairs<float>&);
template double known_within(BlockSpace<double>&, const ProbeOperators<double>&, const FoundPairs<double>&);
template ProbeResult<float> probe(BlockSpace<float>&, const ProbeOperators<float>&, const FoundPairs<float>&,
                                  const ProbeOptions&);
template ProbeResult<double> probe(BlockSpace<double>&, const ProbeOperators<double>&, const FoundPairs<double>&,
                                   const ProbeOptions&);

}  // namespace block_eigs
