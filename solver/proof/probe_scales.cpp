#include "solver/proof/probe_scales.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace block_eigs {

namespace {

double or_zero(double value) { return std::isfinite(value) ? value : 0.0; }

}  // namespace

template <class T>
double accuracy(BlockSpace<T>& space, const ProbeOperators<T>& operators, const FoundPairs<T>& found,
                ConstBlockView<T> images, double epsilon) {
  const double norm_a = or_zero(operators.a.norm_inf());
  const double norm_b = operators.b != nullptr ? or_zero(operators.b->norm_inf()) : 1.0;
  // Orthonormal vectors have norm 1.
  std::vector<double> norms(found.values.size(), 1.0);
  std::vector<double> image_norms = norms;
  if (operators.b != nullptr) {
    norms = space.column_norms(found.vectors);
    image_norms = space.column_norms(images);
  }
  double most = 0.0;
  for (std::size_t j = 0; j < norms.size(); ++j) {
    const double rounding = epsilon * (norm_a + std::abs(found.values[j]) * norm_b) * norms[j];
    most = std::max(most, (found.residual_norms[j] + rounding) / image_norms[j]);
  }
  return 10.0 * most;
}

template <class T>
ProbeScales probe_scales(BlockSpace<T>& space, const ProbeOperators<T>& operators, const FoundPairs<T>& found,
                         ConstBlockView<T> images) {
  ProbeScales scales;
  scales.sigma = found.values.back();
  scales.margin = accuracy(space, operators, found, images, std::numeric_limits<T>::epsilon());
  scales.width = std::max(std::abs(found.values.back() - found.values.front()), scales.margin);
  scales.spread = std::max(scales.width, 0.01 * std::abs(scales.sigma));
  const double norm = operators.b == nullptr ? or_zero(operators.a.norm_inf()) : 0.0;
  scales.reach = 2.0 * std::max({std::abs(scales.sigma), std::abs(found.values.front()), scales.spread, norm});
  return scales;
}

template <class T>
double known_within(BlockSpace<T>& space, const ProbeOperators<T>& operators, const FoundPairs<T>& found) {
  constexpr double epsilon = std::numeric_limits<T>::epsilon();
  if (operators.b == nullptr) return accuracy(space, operators, found, found.vectors, epsilon);
  DenseBlock<T> images = space.make_block(found.vectors.cols);
  operators.b->apply(found.vectors, images.view());
  return accuracy(space, operators, found, ConstBlockView<T>(images.view()), epsilon);
}

template double accuracy(BlockSpace<float>&, const ProbeOperators<float>&, const FoundPairs<float>&,
                         ConstBlockView<float>, double);
template double accuracy(BlockSpace<double>&, const ProbeOperators<double>&, const FoundPairs<double>&,
                         ConstBlockView<double>, double);
template ProbeScales probe_scales(BlockSpace<float>&, const ProbeOperators<float>&, const FoundPairs<float>&,
                                  ConstBlockView<float>);
template ProbeScales probe_scales(BlockSpace<double>&, const ProbeOperators<double>&, const FoundPairs<double>&,
                                  ConstBlockView<double>);
template double known_within(BlockSpace<float>&, const ProbeOperators<float>&, const FoundPairs<float>&);
template double known_within(BlockSpace<double>&, const ProbeOperators<double>&, const FoundPairs<double>&);

}  // namespace block_eigs
