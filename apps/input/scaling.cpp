#include "apps/input/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "spmm/error.hpp"

namespace block_eigs {

namespace {

constexpr int largest_safe = 40;
constexpr int smallest_safe = -40;
constexpr int smallest_safe_in_float = -20;
/// What doubles and floats leave room for beside the exponent of a scaling.
constexpr int double_range = 1000;
constexpr int float_range = 100;

double largest_entry(const CsrRows& rows) {
  double largest = 0.0;
#pragma omp parallel for schedule(static) reduction(max : largest)
  for (std::size_t k = 0; k < rows.values.size(); ++k) largest = std::max(largest, std::abs(rows.values[k]));
  return largest;
}

}  // namespace

int scaling_exponent(double largest, bool in_float, bool even) {
  if (largest == 0.0) return 0;
  const int exponent = std::ilogb(largest);
  if (exponent >= (in_float ? smallest_safe_in_float : smallest_safe) && exponent < largest_safe) return 0;
  return even ? -2 * static_cast<int>(std::floor(exponent / 2.0)) : -exponent;
}

int scale_rows(const Communicator& comm, CsrRows& rows, bool in_float, bool even) {
  const int exponent = scaling_exponent(comm.max(largest_entry(rows)), in_float, even);
  scale_rows(rows, exponent);
  return exponent;
}

void scale_rows(CsrRows& rows, int exponent) {
  if (exponent == 0) return;
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < rows.values.size(); ++k) rows.values[k] = std::ldexp(rows.values[k], exponent);
}

void require_range(const Scaling& scaling, bool vectors_in_float) {
  const int eigenvalues = scaling.b - scaling.a;
  require(
      std::abs(eigenvalues) <= double_range + 100 * (eigenvalues < 0 ? 1 : 0),
      fmt::format("the eigenvalues of A x = lambda B x would be near 2^{}, out of the range of double: multiply "
                  "A or B by a constant",
                  eigenvalues));
  require(!vectors_in_float || std::abs(scaling.b) / 2 <= float_range,
          fmt::format("mass: eigenvectors with x' B x = 1 would have a norm near 2^{}, out of the range of float: "
                      "take precision: double",
                      scaling.b / 2));
}

}  // namespace block_eigs
