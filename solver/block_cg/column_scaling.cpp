#include "solver/block_cg/column_scaling.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

namespace block_eigs {

namespace {

/// Norms within need no scaling: also residuals far below have squares that T can hold.
template <class T>
bool comfortable(double norm) {
  constexpr double bound = std::is_same_v<T, float> ? 1e6 : 1e100;
  return norm >= 1.0 / bound && norm <= bound;
}

/// By exponents of two of which at least one brings any number of T to where its square is no problem.
template <class T>
constexpr std::array<int, 4> attempts() {
  if constexpr (std::is_same_v<T, float>) {
    return {60, 120, -60, -100};
  } else {
    return {500, 900, -500, -800};
  }
}

/// 2^900: so small a column is not brought all the way.
constexpr int farthest = 900;

template <class T>
void scale_doubtful(BlockSpace<T>& space, ConstBlockView<T> x, std::size_t first, ColumnScaling& result) {
  DenseBlock<T> scaled = space.make_block(x.cols);
  const auto count = static_cast<std::size_t>(x.cols);
  for (const int shift : attempts<T>()) {
    space.kernels().convert(x, std::vector<double>(count, std::ldexp(1.0, shift)), scaled.view());
    const std::vector<double> norms = space.column_norms(scaled.view());
    for (std::size_t j = 0; j < count; ++j) {
      int& exponent = result.exponents[first + j];
      double& norm = result.scaled_norms[first + j];
      if (exponent != 0 || comfortable<T>(norm)) continue;
      const bool found = std::isfinite(norms[j]) && norms[j] > (std::is_same_v<T, float> ? 1e-15 : 1e-120);
      if (!found) continue;
      exponent = std::max(std::ilogb(norms[j]) - shift, -farthest);
      norm = std::ldexp(norms[j], -shift - exponent);
    }
  }
}

}  // namespace

bool ColumnScaling::needed() const {
  return std::any_of(exponents.begin(), exponents.end(), [](int exponent) { return exponent != 0; });
}

double ColumnScaling::norm(std::size_t j) const { return std::ldexp(scaled_norms[j], exponents[j]); }

std::vector<double> ColumnScaling::factors(std::size_t first, std::size_t count, bool inverse) const {
  std::vector<double> result;
  for (std::size_t j = first; j < first + count; ++j) {
    result.push_back(std::ldexp(1.0, inverse ? -exponents[j] : exponents[j]));
  }
  return result;
}

template <class T>
ColumnScaling column_scaling(BlockSpace<T>& space, ConstBlockView<T> x, LocalIndex width) {
  ColumnScaling result;
  result.scaled_norms = space.column_norms(x);
  result.exponents.assign(result.scaled_norms.size(), 0);
  for (LocalIndex first = 0; first < x.cols; first += width) {
    const LocalIndex count = std::min(width, x.cols - first);
    const auto begin = result.scaled_norms.begin() + first;
    if (std::all_of(begin, begin + count, comfortable<T>)) continue;
    scale_doubtful(space, x.columns(first, count), static_cast<std::size_t>(first), result);
  }
  return result;
}

template ColumnScaling column_scaling(BlockSpace<float>&, ConstBlockView<float>, LocalIndex);
template ColumnScaling column_scaling(BlockSpace<double>&, ConstBlockView<double>, LocalIndex);

}  // namespace block_eigs
