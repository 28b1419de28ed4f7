#include "apps/journey/scaled_units.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "solver/block_cg/column_scaling.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

void multiply(std::vector<double>& values, int exponent) {
  for (double& value : values) value = std::ldexp(value, exponent);
}

/// In two steps: the factor itself may lie out of range.
template <class T>
void multiply(BlockSpace<T>& space, DenseBlock<T>& block, int exponent) {
  if (exponent == 0 || block.cols() == 0) return;
  for (const int part : {exponent / 2, exponent - exponent / 2}) {
    const std::vector<double> factors(static_cast<std::size_t>(block.cols()), std::ldexp(1.0, part));
    space.context().kernels->convert(block.view(), factors, block.view());
  }
}

/// Binary exponent of the largest norm of a column, which may itself be near the end of the range. Collective.
template <class T>
int largest_exponent(BlockSpace<T>& space, const DenseBlock<T>& block) {
  const auto of = [&](ConstBlockView<T> view) {
    const std::vector<double> norms = space.column_norms(view);
    return *std::max_element(norms.begin(), norms.end());
  };
  constexpr int lowest = std::numeric_limits<int>::min() / 2;
  double largest = of(block.view());
  if (std::isfinite(largest)) return largest > 0.0 ? std::ilogb(largest) : lowest;
  constexpr int half_range = std::numeric_limits<T>::max_exponent / 2;
  DenseBlock<T> smaller = space.make_block(block.cols());
  space.copy(block.view(), smaller.view());
  multiply(space, smaller, -half_range);
  largest = of(smaller.view());
  return std::isfinite(largest) ? std::ilogb(largest) + half_range : 2 * half_range;
}

/// Binary exponent of the norm of a column that loses digits where it is multiplied by 2^exponent. Norms are those
/// of columns at their own scale: squares of what comes near the end of the range are zero. Collective.
template <class T>
std::optional<int> below_range(BlockSpace<T>& space, const DenseBlock<T>& block, int exponent) {
  constexpr double roundings = 16.0;
  if (exponent >= 0) return std::nullopt;
  const auto columns = static_cast<std::size_t>(block.cols());
  const ColumnScaling before = column_scaling<T>(space, block.view(), block.cols());
  const auto exponent_of = [&](std::size_t j) { return std::ilogb(before.scaled_norms[j]) + before.exponents[j]; };
  const auto below = [&](std::size_t j) {
    return before.scaled_norms[j] > 0.0 && exponent_of(j) + exponent < std::numeric_limits<T>::min_exponent;
  };
  bool any = false;
  for (std::size_t j = 0; j < columns; ++j) any = any || below(j);
  if (!any) return std::nullopt;
  DenseBlock<T> there_and_back = space.make_block(block.cols());
  space.copy(block.view(), there_and_back.view());
  multiply(space, there_and_back, exponent);
  multiply(space, there_and_back, -exponent);
  const ColumnScaling after = column_scaling<T>(space, there_and_back.view(), block.cols());
  for (std::size_t j = 0; j < columns; ++j) {
    const double kept =
        std::ldexp(after.scaled_norms[j] / before.scaled_norms[j], after.exponents[j] - before.exponents[j]);
    if (below(j) && std::abs(kept - 1.0) > roundings * std::numeric_limits<T>::epsilon())
      return exponent_of(j) + exponent;
  }
  return std::nullopt;
}

/// Eigenvalues that are finite, but would not be after multiplication by 2^exponent.
void refuse_overflow(const std::vector<double>& eigenvalues, int exponent) {
  for (const double value : eigenvalues) {
    if (!std::isfinite(value) || std::isfinite(std::ldexp(value, exponent))) continue;
    throw NumericalError(
        fmt::format("an eigenvalue is near {}2^{}, out of the range of double: divide the matrix by a constant",
                    value < 0.0 ? "-" : "", std::ilogb(value) + exponent));
  }
}

}  // namespace

LobpcgOptions in_scaled_units(LobpcgOptions options, const Scaling& scaling) {
  if (options.convergence == Convergence::absolute) {
    options.tolerance = std::ldexp(options.tolerance, scaling.a - scaling.b / 2);
  }
  return options;
}

PreconditionerConfig in_scaled_units(PreconditionerConfig config, const Scaling& scaling) {
  config.amg.shift = std::ldexp(config.amg.shift, scaling.a);
  if (config.direct.shift) config.direct.shift = std::ldexp(*config.direct.shift, scaling.a - scaling.b);
  return config;
}

double unscaled_value(const Scaling& scaling, double value) { return std::ldexp(value, scaling.b - scaling.a); }

template <class T>
void undo_scaling(const Scaling& scaling, BlockSpace<T>& space, Verification& verified, EigenResult<T>& result) {
  if (!scaling.any()) return;
  const int of_values = scaling.b - scaling.a;
  const int of_residuals = scaling.b / 2 - scaling.a;
  refuse_overflow(verified.eigenvalues, of_values);
  multiply(verified.eigenvalues, of_values);
  multiply(verified.error_bounds, of_values);
  multiply(verified.residual_norms, of_residuals);
  multiply(result.eigenvalues, of_values);
  multiply(result.error_bounds, of_values);
  multiply(result.residual_norms, of_residuals);
  for (LobpcgIteration& entry : result.history) {
    multiply(entry.eigenvalues, of_values);
    multiply(entry.residual_norms, of_residuals);
  }
  multiply(space, result.eigenvectors, scaling.b / 2);
}

template <class T>
void scale_initial(const Scaling& scaling, BlockSpace<T>& space, DenseBlock<T>& initial) {
  multiply(space, initial, -scaling.a);
}

template <class T>
void undo_scaling(const Scaling& scaling, BlockSpace<T>& space, BlockCgResult<T>& result) {
  if (scaling.a == 0 || result.solution.cols() == 0) return;
  const char* precision = sizeof(T) == 4 ? "float" : "double";
  if (const std::optional<int> exponent = below_range(space, result.solution, scaling.a)) {
    throw NumericalError(fmt::format(
        "a solution has a norm near 2^{}, below the range of {}: multiply the right-hand sides by a constant",
        *exponent, precision));
  }
  if (scaling.a > 0) {
    const int exponent = largest_exponent(space, result.solution) + scaling.a;
    if (exponent >= std::numeric_limits<T>::max_exponent - 1) {
      throw NumericalError(
          fmt::format("the solution has a norm near 2^{}, out of the range of {}: divide the "
                      "right-hand sides by a constant",
                      exponent, precision));
    }
  }
  multiply(space, result.solution, scaling.a);
}

template void undo_scaling(const Scaling&, BlockSpace<float>&, Verification&, EigenResult<float>&);
template void undo_scaling(const Scaling&, BlockSpace<double>&, Verification&, EigenResult<double>&);
template void scale_initial(const Scaling&, BlockSpace<float>&, DenseBlock<float>&);
template void scale_initial(const Scaling&, BlockSpace<double>&, DenseBlock<double>&);
template void undo_scaling(const Scaling&, BlockSpace<float>&, BlockCgResult<float>&);
template void undo_scaling(const Scaling&, BlockSpace<double>&, BlockCgResult<double>&);

}  // namespace block_eigs
