#include "solver/proof/smallest_eigenvalue.hpp"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "solver/small/lapack.hpp"

namespace block_eigs {

namespace {

/// The largest eigenvalue of the tridiagonal matrix. Collective.
double largest_ritz_value(BlockSpace<double>& space, const std::vector<double>& diagonal,
                          const std::vector<double>& beside) {
  SmallMatrix result(1, 1);
  space.on_root([&] { result(0, 0) = lapack::tridiagonal_eigenvalues(diagonal, beside).back(); }, {&result});
  return result(0, 0);
}

}  // namespace

double probable_smallest_eigenvalue(BlockSpace<double>& space, LinearOperator<double>& b,
                                    const Buffer<double>& scale, double upper, double probability) {
  constexpr int most_steps = 100;
  constexpr int steps_between_looks = 20;
  constexpr std::uint64_t seed = 0x5eed0fb;
  Kernels<double>& kernels = space.kernels();
  DenseBlock<double> v = space.make_block(1);
  DenseBlock<double> before = space.make_block(1);
  DenseBlock<double> scaled = space.make_block(1);
  DenseBlock<double> image = space.make_block(1);
  b.reserve(1);
  space.fill_random(v.view(), seed);
  kernels.fill(before.view(), 0.0);
  double beta = space.column_norms(v.view())[0];
  if (!(beta > 0.0)) return std::numeric_limits<double>::quiet_NaN();
  kernels.axpby(0.0, v.view(), 1.0 / beta, v.view());
  std::vector<double> diagonal, beside;
  beta = 0.0;
  const double n = static_cast<double>(space.dimension());
  for (int k = 1; k <= most_steps; ++k) {
    kernels.scale_rows(scale.data(), v.view(), scaled.view());
    b.apply(scaled.view(), image.view());
    kernels.scale_rows(scale.data(), image.view(), image.view());
    // image = (upper - D B D) v - beta before
    kernels.axpby(upper, v.view(), -1.0, image.view());
    if (k > 1) kernels.axpby(-beta, before.view(), 1.0, image.view());
    const double alpha = space.column_dots(v.view(), image.view())[0];
    kernels.axpby(-alpha, v.view(), 1.0, image.view());
    diagonal.push_back(alpha);
    beta = space.column_norms(image.view())[0];
    const bool exhausted = !(beta > std::numeric_limits<double>::epsilon() * upper);
    if (exhausted || k % steps_between_looks == 0) {
      const double xi = largest_ritz_value(space, diagonal, beside);
      const double root = std::log(1.648 * std::sqrt(n) / probability) / (2.0 * k - 1.0);
      const double bound = exhausted ? upper - xi : upper - xi / (1.0 - root * root);
      if (root < 1.0 && bound > 0.5 * (upper - xi)) return bound;
      if (exhausted) return bound > 0.0 ? bound : std::numeric_limits<double>::quiet_NaN();
      if (k == most_steps && root < 1.0 && bound > 0.0) return bound;
    }
    beside.push_back(beta);
    std::swap(before, v);
    std::swap(v, image);
    kernels.axpby(0.0, v.view(), 1.0 / beta, v.view());
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace block_eigs
