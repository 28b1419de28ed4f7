#include "solver/space/rounding_probe.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "spmm/scatter_bits.hpp"

namespace block_eigs {

namespace {

/// Sums of squares fall behind sums of magnitudes by the square root of a row's entries.
constexpr double safety = 3.0;

/// A bit without order.
bool coin(std::uint64_t seed, std::uint64_t i) {
  return (scatter_bits((i + 1) * golden_step + seed * 0xd1342543de82ef95ULL) & 1U) != 0;
}

}  // namespace

template <class T>
void RoundingProbe<T>::make_signs() {
  if (made_) return;
  space_.comm().collectively([&] {
    std::vector<T> values(static_cast<std::size_t>(space_.local_rows()));
    for (std::size_t which = 0; which < signs_.size(); ++which) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = coin(which, static_cast<std::uint64_t>(space_.first_row()) + i) ? T(1) : T(-1);
      }
      Buffer<T> signs(space_.context().device, values.size());
      signs.upload(values.data());
      signs_[which] = std::move(signs);
    }
  });
  made_ = true;
}

template <class T>
template <class Measure>
std::vector<double> RoundingProbe<T>::largest(BlockView<T> x, BlockView<T> ax, const Measure& measure) {
  make_signs();
  std::vector<double> result(static_cast<std::size_t>(x.cols), 0.0);
  for (const Buffer<T>& signs : signs_) {
    space_.kernels().scale_rows(signs.data(), x, x);
    a_.apply(x, ax);
    const std::vector<double> found = measure();
    for (std::size_t j = 0; j < result.size(); ++j) result[j] = std::max(result[j], safety * std::abs(found[j]));
    space_.kernels().scale_rows(signs.data(), x, x);
  }
  return result;
}

template <class T>
std::vector<double> RoundingProbe<T>::product_scales(BlockView<T> x, BlockView<T> ax) {
  return largest(x, ax, [&] { return space_.column_norms(ax); });
}

template <class T>
std::vector<double> RoundingProbe<T>::quadratic_scales(BlockView<T> x, BlockView<T> ax) {
  return largest(x, ax, [&] { return space_.column_dots(x, ax); });
}

template class RoundingProbe<float>;
template class RoundingProbe<double>;

}  // namespace block_eigs
