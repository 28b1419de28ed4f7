#include "apps/journey/scaled_units.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
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

/// Rounds columns that are to be multiplied by 2^exponent to what is left of them where entries fall below the
/// range of T. Of those that leave it or lose most, the binary exponent of the norm that they would have. Norms
/// are those of columns at their own scale: squares of what comes near the ends of the range are infinite or zero.
/// `rounded` becomes true where there are any of the former. Collective.
template <class T>
std::vector<std::optional<int>> round_to_range(BlockSpace<T>& space, DenseBlock<T>& block, int exponent,
                                               bool& rounded) {
  using Limits = std::numeric_limits<T>;
  constexpr double roundings = 16.0;
  // Entries so far below the others count where rows of A are as much larger than others.
  constexpr int near_the_end = Limits::min_exponent / 4 * 3;
  std::vector<std::optional<int>> result(static_cast<std::size_t>(block.cols()));
  const ColumnScaling before = column_scaling<T>(space, block.view(), block.cols());
  const auto exponent_of = [&](std::size_t j) {
    return std::ilogb(before.scaled_norms[j]) + before.exponents[j] + exponent;
  };
  std::vector<std::size_t> below;
  for (std::size_t j = 0; j < result.size(); ++j) {
    if (!(before.scaled_norms[j] > 0.0)) continue;
    if (exponent_of(j) >= Limits::max_exponent - 1) result[j] = exponent_of(j);
    if (exponent < 0 && exponent_of(j) < near_the_end) below.push_back(j);
  }
  if (below.empty()) return result;
  rounded = true;
  DenseBlock<T> there_and_back = space.make_block(block.cols());
  space.copy(block.view(), there_and_back.view());
  multiply(space, there_and_back, exponent);
  multiply(space, there_and_back, -exponent);
  const ColumnScaling after = column_scaling<T>(space, there_and_back.view(), block.cols());
  for (const std::size_t j : below) {
    const double kept =
        std::ldexp(after.scaled_norms[j] / before.scaled_norms[j], after.exponents[j] - before.exponents[j]);
    if (std::abs(kept - 1.0) > roundings * Limits::epsilon()) result[j] = exponent_of(j);
    const auto column = static_cast<LocalIndex>(j);
    space.copy(there_and_back.columns(column, 1), block.columns(column, 1));
  }
  return result;
}

/// Which right-hand sides have no solution in T, and why.
template <class T>
std::string range_remark(const std::vector<std::optional<int>>& exponents) {
  const auto lost = [](const std::optional<int>& exponent) { return exponent.has_value(); };
  const auto first = std::find_if(exponents.begin(), exponents.end(), lost);
  const auto others = std::count_if(first, exponents.end(), lost) - 1;
  return fmt::format("the solution of right-hand side {} would have a norm near 2^{}, {} the range of {}{}",
                     first - exponents.begin() + 1, **first, **first > 0 ? "above" : "below",
                     sizeof(T) == 4 ? "float" : "double",
                     others > 0 ? fmt::format(", and {} more leave it", others) : "");
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
bool round_to_units(const Scaling& scaling, BlockSpace<T>& space, BlockCgResult<T>& result) {
  if (scaling.a == 0 || result.solution.cols() == 0) return false;
  bool rounded = false;
  const std::vector<std::optional<int>> lost = round_to_range(space, result.solution, scaling.a, rounded);
  for (std::size_t j = 0; j < lost.size(); ++j) {
    if (!lost[j]) continue;
    space.kernels().fill(result.solution.columns(static_cast<LocalIndex>(j), 1), 0.0);
    result.residual_norms[j] = result.rhs_norms[j];
    result.outcomes[j] = Outcome::not_converged;
  }
  if (std::none_of(lost.begin(), lost.end(), [](const auto& exponent) { return exponent.has_value(); }))
    return rounded;
  if (result.findings.end == BlockCgEnd::solved) result.findings.end = BlockCgEnd::beyond_range;
  result.remark += (result.remark.empty() ? "" : "; ") + range_remark<T>(lost);
  return rounded;
}

template <class T>
void undo_scaling(const Scaling& scaling, BlockSpace<T>& space, BlockCgResult<T>& result) {
  multiply(space, result.solution, scaling.a);
}

template void undo_scaling(const Scaling&, BlockSpace<float>&, Verification&, EigenResult<float>&);
template void undo_scaling(const Scaling&, BlockSpace<double>&, Verification&, EigenResult<double>&);
template void scale_initial(const Scaling&, BlockSpace<float>&, DenseBlock<float>&);
template void scale_initial(const Scaling&, BlockSpace<double>&, DenseBlock<double>&);
template bool round_to_units(const Scaling&, BlockSpace<float>&, BlockCgResult<float>&);
template void undo_scaling(const Scaling&, BlockSpace<float>&, BlockCgResult<float>&);
template bool round_to_units(const Scaling&, BlockSpace<double>&, BlockCgResult<double>&);
template void undo_scaling(const Scaling&, BlockSpace<double>&, BlockCgResult<double>&);

}  // namespace block_eigs
