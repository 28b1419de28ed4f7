#include "solver/proof/probe.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "solver/proof/deflation.hpp"
#include "solver/proof/probe_filter.hpp"
#include "solver/proof/probe_scales.hpp"
#include "solver/proof/shifted_operator.hpp"
#include "solver/small/lapack.hpp"
#include "solver/space/orthonormalize.hpp"

namespace block_eigs {

namespace {

/// Ritz pairs of the filtered block that lie before sigma.
template <class T>
void find_missed(BlockSpace<T>& space, const ProbeOperators<T>& operators, const Deflation<T>& deflation,
                 const FoundPairs<T>& found, const ProbeScales& scales, DenseBlock<T>& x, ProbeResult<T>& result) {
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

/// X^T S X. Collective.
template <class T>
SmallMatrix energies(BlockSpace<T>& space, const ProbeOperators<T>& operators, Deflation<T>& deflation,
                     Which which, double sigma, ConstBlockView<T> x, ProbeResult<T>& result) {
  const ProbeOperators<T> bare{operators.a, operators.b};
  ShiftedOperator<T> s(space, bare, deflation, which, sigma, x.cols);
  DenseBlock<T> image = space.make_block(x.cols);
  s.shifted(x, image.view());
  result.products += s.products();
  SmallMatrix gram;
  space.gram({x}, {image.view()}, gram);
  return gram;
}

double trace(const SmallMatrix& matrix) {
  double sum = 0.0;
  for (int i = 0; i < matrix.rows(); ++i) sum += matrix(i, i);
  return sum;
}

/// Whether a symmetric matrix is, scaled to ones on its diagonal, positive definite beyond rounding. Collective.
template <class T>
bool positive_definite(BlockSpace<T>& space, const SmallMatrix& matrix) {
  const int order = matrix.rows();
  for (int i = 0; i < order; ++i) {
    if (!(matrix(i, i) > 0.0)) return false;
  }
  SmallMatrix least(1, 1);
  space.on_root(
      [&] {
        SmallMatrix scaled(order, order);
        for (int j = 0; j < order; ++j) {
          for (int i = 0; i < order; ++i)
            scaled(i, j) = 0.5 * (matrix(i, j) + matrix(j, i)) / std::sqrt(matrix(i, i) * matrix(j, j));
        }
        least(0, 0) = lapack::symmetric_eigen(scaled).front();
      },
      {&least});
  return least(0, 0) > 100.0 * order * std::numeric_limits<T>::epsilon();
}

/// A block in float of what `block` holds.
DenseBlock<float> rounded(BlockSpace<double>& space, BlockSpace<float>& float_space,
                          ConstBlockView<double> block) {
  DenseBlock<float> result = float_space.make_block(block.cols);
  if (block.cols > 0) space.kernels().convert(block, {}, result.view());
  return result;
}

/// filter_random_block() with the operators in float. Collective.
FilteredBlock<double> filter_in_float(BlockSpace<double>& space, const ProbeOperators<double>& operators,
                                      const FoundPairs<double>& found, const ProbeScales& scales,
                                      const ProbeOptions& options) {
  BlockSpace<float> float_space = block_eigs::in_float(space);
  const ProbeOperators<float> in_float{*operators.a_in_float, nullptr, operators.preconditioner_in_float,
                                       operators.spectral_bound};
  FilteredBlock<double> result;
  FilteredBlock<float> filtered;
  {
    const DenseBlock<float> vectors = rounded(space, float_space, found.vectors);
    const DenseBlock<float> constraints = rounded(space, float_space, found.constraints);
    const FoundPairs<float> pairs{found.which, found.values, found.residual_norms, vectors.view(),
                                  constraints.view()};
    Deflation<float> deflation(float_space, nullptr, pairs.vectors, pairs.constraints);
    filtered = filter_random_block(float_space, in_float, pairs, deflation, scales, options);
  }
  result.x = space.make_block(filtered.x.cols());
  float_space.kernels().convert(filtered.x.view(), {}, result.x.view());
  result.filter = filtered.filter;
  result.statistics = filtered.statistics;
  result.filtered = filtered.filtered;
  result.in_range = filtered.in_range;
  result.mean_distance = filtered.mean_distance;
  result.products = filtered.products;
  return result;
}

/// A random block after a filter of the degree asked for, or of a half or a quarter of it, and so on, where that
/// leaves the range of numbers, as with something that was missed far before what was found. Collective.
template <class T>
FilteredBlock<T> filter_within_range(BlockSpace<T>& space, const ProbeOperators<T>& operators,
                                     const FoundPairs<T>& found, Deflation<T>& deflation,
                                     const ProbeScales& scales, ProbeOptions options) {
  int products = 0;
  for (;; options.degree /= 2) {
    FilteredBlock<T> filtered;
    if constexpr (std::is_same_v<T, double>) {
      if (options.in_float) filtered = filter_in_float(space, operators, found, scales, options);
    }
    if (filtered.x.cols() == 0)
      filtered = filter_random_block(space, operators, found, deflation, scales, options);
    filtered.products = products += filtered.products;
    if (filtered.in_range || options.degree < 2 || space.to_end_early()) return filtered;
  }
}

}  // namespace

template <class T>
bool probes_in_float(BlockSpace<T>& space, const ProbeOperators<T>& operators, const FoundPairs<T>& found) {
  if constexpr (std::is_same_v<T, double>) {
    if (operators.a_in_float == nullptr || operators.b != nullptr ||
        (operators.preconditioner == nullptr) != (operators.preconditioner_in_float == nullptr))
      return false;
    constexpr double share = 0.02;
    const double open = accuracy(space, operators, found, found.vectors, std::numeric_limits<float>::epsilon());
    return open <= share * probe_scales(space, operators, found, found.vectors).spread;
  } else {
    return false;
  }
}

template <class T>
ProbeResult<T> probe(BlockSpace<T>& space, const ProbeOperators<T>& operators, const FoundPairs<T>& found,
                     const ProbeOptions& options) {
  Deflation<T> deflation(space, operators.b, found.vectors, found.constraints);
  const ConstBlockView<T> images = deflation.images()[0];
  const ProbeScales scales = probe_scales(space, operators, found, images);
  double margin = scales.margin;
  FilteredBlock<T> filtered = filter_within_range(space, operators, found, deflation, scales, options);
  if constexpr (std::is_same_v<T, double>) {
    if (options.in_float)
      margin = accuracy(space, operators, found, images, std::numeric_limits<float>::epsilon());
  }
  DenseBlock<T>& x = filtered.x;
  ProbeResult<T> result;
  result.products = filtered.products;
  result.mean_distance = filtered.mean_distance;
  result.calibrated = operators.b != nullptr || operators.preconditioner != nullptr;
  result.smallest_gap = std::numeric_limits<double>::infinity();
  deflation.remove_from(x.view());
  // Once more where that has left rounding errors of what it took: there is none of note where every step did.
  if (!result.calibrated) deflation.remove_from(x.view());
  if (filtered.filtered) {
    const SmallMatrix gram =
        energies(space, operators, deflation, found.which, scales.sigma, ConstBlockView<T>(x.view()), result);
    ProbeStatistics statistics = filtered.statistics;
    statistics.energy = trace(gram) / random_variance * std::exp(2.0 * filtered.filter.log_value(0.0));
    const double gap = smallest_visible_gap(statistics, filtered.filter, options.probability, scales.reach);
    result.smallest_gap = std::max(gap, margin);
    // No vector in the span of such a block lies before sigma.
    if (positive_definite(space, gram)) return result;
  }
  find_missed(space, operators, deflation, found, scales, x, result);
  return result;
}

template <class T>
ProbeResult<T> missed_in_span(BlockSpace<T>& space, const ProbeOperators<T>& operators, const FoundPairs<T>& found,
                              DenseBlock<T> x) {
  Deflation<T> deflation(space, operators.b, found.vectors, found.constraints);
  const ProbeScales scales = probe_scales(space, operators, found, deflation.images()[0]);
  ProbeResult<T> result;
  result.smallest_gap = std::numeric_limits<double>::infinity();
  deflation.remove_from(x.view());
  find_missed(space, operators, deflation, found, scales, x, result);
  return result;
}

template ProbeResult<float> missed_in_span(BlockSpace<float>&, const ProbeOperators<float>&,
                                           const FoundPairs<float>&, DenseBlock<float>);
template ProbeResult<double> missed_in_span(BlockSpace<double>&, const ProbeOperators<double>&,
                                            const FoundPairs<double>&, DenseBlock<double>);
template bool probes_in_float(BlockSpace<float>&, const ProbeOperators<float>&, const FoundPairs<float>&);
template bool probes_in_float(BlockSpace<double>&, const ProbeOperators<double>&, const FoundPairs<double>&);
template ProbeResult<float> probe(BlockSpace<float>&, const ProbeOperators<float>&, const FoundPairs<float>&,
                                  const ProbeOptions&);
template ProbeResult<double> probe(BlockSpace<double>&, const ProbeOperators<double>&, const FoundPairs<double>&,
                                   const ProbeOptions&);

}  // namespace block_eigs
