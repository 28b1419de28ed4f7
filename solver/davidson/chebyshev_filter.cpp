#include "solver/davidson/chebyshev_filter.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace block_eigs {

double FilterInterval::growth(double lambda) const {
  const double center = 0.5 * (upper + lower);
  const double half_width = 0.5 * (upper - lower);
  return std::acosh(std::max((center - lambda) / half_width, 1.0));
}

template <class T>
void chebyshev_filter(BlockSpace<T>& space, LinearOperator<T>& a, Panel<T>& x, Panel<T>& other, BlockView<T> image,
                      const FilterInterval& interval, double sign, int degree, const AfterDegree<T>& clean) {
  const double center = 0.5 * (interval.upper + interval.lower);
  const double half_width = 0.5 * (interval.upper - interval.lower);
  const double sigma = (center - interval.anchor) / half_width;
  Panel<T>* now = &x;
  Panel<T>* before = &other;
  // x_1 = (center - sign A) x / (center - anchor)
  ProductStep<T> step;
  step.alpha = -sign / (center - interval.anchor);
  step.beta = center / (center - interval.anchor);
  double rho = 1.0 / sigma;
  for (int k = 0; k < degree; ++k) {
    space.apply_step(a, now->view(), step, image, before->view());
    std::swap(now, before);
    // x_{k+1} = 2 rho' (center - sign A) x_k / half_width - rho rho' x_{k-1}
    const double next = 1.0 / (2.0 * sigma - rho);
    step.alpha = -2.0 * sign * next / half_width;
    step.beta = 2.0 * next * center / half_width;
    step.gamma = -next * rho;
    rho = next;
    if (k + 1 < degree) clean(k + 1, now->view(), before->view());
  }
  if (now != &x) std::swap(x, other);
}

template void chebyshev_filter(BlockSpace<float>&, LinearOperator<float>&, Panel<float>&, Panel<float>&,
                               BlockView<float>, const FilterInterval&, double, int, const AfterDegree<float>&);
template void chebyshev_filter(BlockSpace<double>&, LinearOperator<double>&, Panel<double>&, Panel<double>&,
                               BlockView<double>, const FilterInterval&, double, int, const AfterDegree<double>&);

}  // namespace block_eigs
