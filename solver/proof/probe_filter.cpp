#include "solver/proof/probe_filter.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "solver/proof/shifted_operator.hpp"
#include "solver/space/lowest_quotient.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// The logarithm of how much of a deflated vector may come back from rounding errors between two projections.
constexpr double largest_return = 12.0;

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

double or_zero(double value) { return std::isfinite(value) ? value : 0.0; }

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
  const LocalIndex count = std::min(most_calibrated, images.cols);
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
    space.clear_left_out(out.view());
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
ProbeFilter choose_filter(double start_energy, double upper, int degree, const ProbeScales& scales,
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

/// The largest eigenvalue of T, from a block that was multiplied with it once, by as many steps of the power
/// method as show it within the room that is added. Uses up `tx` = T x; `sx` is work space.
template <class T>
double measured_bound(ShiftedOperator<T>& t, BlockSpace<T>& space, DenseBlock<T>& tx, DenseBlock<T>& sx) {
  constexpr int steps = 8;
  constexpr double room = 1.3;
  double largest = 0.0;
  for (int k = 0; k < steps; ++k) {
    t.shifted(tx.view(), sx.view());
    const std::vector<double> products = space.column_dots(sx.view(), tx.view());
    t.preconditioned(sx.view(), tx.view());
    const std::vector<double> squares = space.column_dots(sx.view(), tx.view());
    for (std::size_t j = 0; j < squares.size(); ++j)
      largest = std::max(largest, or_zero(squares[j] / std::max(products[j], 0.0)));
    if (!(largest > 0.0)) return 0.0;
    space.kernels().axpby(0.0, tx.view(), 1.0 / largest, tx.view());
  }
  return room * largest;
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
  constexpr int steps_between_questions = 16;
  for (int k = 1; k < filter.degree; ++k) {
    if (k % steps_between_questions == 0 && space.asks_to_end_early())
      throw NumericalError("the run was to end before it was through");
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

}  // namespace

template <class T>
FilteredBlock<T> filter_random_block(BlockSpace<T>& space, const ProbeOperators<T>& operators,
                                     const FoundPairs<T>& found, Deflation<T>& deflation,
                                     const ProbeScales& scales, const ProbeOptions& options) {
  constexpr LocalIndex columns = probe_columns<T>();
  FilteredBlock<T> result;
  result.statistics.columns = columns;
  result.x = space.make_block(columns);
  DenseBlock<T>& x = result.x;
  ShiftedOperator<T> t(space, operators, deflation, found.which, scales.sigma, columns);
  start(t, space, deflation, operators.preconditioner, options.seed, x, result.statistics);
  deflation.remove_from(x.view());
  deflation.remove_from(x.view());
  DenseBlock<T> y = space.make_block(columns);
  DenseBlock<T> tx = space.make_block(columns);
  // Steps of T = S do not take deflated vectors out, and constraints may lie below all found values.
  const double constraints = lowest_quotient<T>(space, deflation.vectors()[1], y.view(), tx.view(),
                                                [&](BlockView<T> in, BlockView<T> out) { t.shifted(in, out); });
  t.shifted(x.view(), y.view());
  const double start_energy = sum(space.column_dots(x.view(), y.view())) / (random_variance * columns);
  t.preconditioned(y.view(), tx.view());
  const double quotient =
      or_zero(sum(space.column_dots(y.view(), tx.view())) / (start_energy * random_variance * columns));
  double upper = upper_bound(operators, found.which, scales.sigma);
  if (!(upper > 0.0)) upper = 1.5 * quotient;
  ProbeScales used = scales;
  if (t.plain()) {
    // A shift of A changes sigma, but not how far eigenvalues are from it.
    constexpr double share = 0.1;
    result.mean_distance = start_energy / static_cast<double>(space.dimension());
    if (result.mean_distance > 0.0)
      used.spread = std::max(std::min(scales.spread, share * result.mean_distance), scales.width);
  }
  // Norms say nothing of where a spectrum ends that lies far from zero.
  constexpr double far = 16.0;
  if (upper > far * quotient && quotient > 0.0 && options.degree > 0) {
    const double measured = measured_bound(t, space, tx, y);
    if (measured > 0.0) upper = std::min(upper, measured);
    t.shifted(x.view(), y.view());
    t.preconditioned(y.view(), tx.view());
  }
  if (upper > 0.0 && options.degree > 0) {
    result.filter = choose_filter(start_energy, upper, options.degree, used, result.statistics);
    double deepest = -std::abs(scales.sigma - found.values.front()) * result.statistics.response;
    if (t.plain()) deepest = std::min(deepest, constraints);
    apply_filter(t, space, deflation, result.filter, deepest, tx, x, y);
    result.filtered = true;
    const std::vector<double> lengths = space.column_norms(x.view());
    result.in_range =
        std::all_of(lengths.begin(), lengths.end(), [](double length) { return std::isfinite(length); });
  }
  result.products = t.products();
  return result;
}

template FilteredBlock<float> filter_random_block(BlockSpace<float>&, const ProbeOperators<float>&,
                                                  const FoundPairs<float>&, Deflation<float>&, const ProbeScales&,
                                                  const ProbeOptions&);
template FilteredBlock<double> filter_random_block(BlockSpace<double>&, const ProbeOperators<double>&,
                                                   const FoundPairs<double>&, Deflation<double>&,
                                                   const ProbeScales&, const ProbeOptions&);

}  // namespace block_eigs
