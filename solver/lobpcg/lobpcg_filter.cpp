#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "solver/lobpcg/lobpcg_run.hpp"
#include "solver/space/orthonormalize.hpp"

// A start block from Chebyshev filters with Rayleigh-Ritz in between (Zhou, Saad, Tiago, Chelikowsky, J. Comput.
// Phys. 219, 2006). One degree costs a product with A that reads and writes one block more.
namespace block_eigs {

namespace {

constexpr int most_stages = 8;
constexpr int largest_degree = 200;
/// cosh of this is how much more a filter keeps of the bottom of the spectrum than of the cut: what one
/// orthonormalisation can still tell apart.
constexpr double largest_growth = 12.0;

int degree_for(double lower, double upper) {
  const double degree = 0.5 * largest_growth * std::sqrt(upper / lower);
  return static_cast<int>(std::clamp(degree, 10.0, static_cast<double>(largest_degree)));
}

}  // namespace

template <class T>
void LobpcgRun<T>::filter_start_block() {
  const double upper = a_.norm_inf();
  if (!options_.filtered_start || options_.which == Which::largest || b_ != nullptr || std::isnan(upper)) return;
  double last = std::numeric_limits<double>::infinity();
  for (int stage = 0; stage < most_stages; ++stage) {
    // The Ritz values of random vectors say nothing: cut where a short filter can.
    const bool informed = stage > 0 || continued_;
    const double cut = informed ? ritz_.values.back() : std::min(ritz_.values.back(), 0.04 * upper);
    if (!(ritz_.values.front() > 0.0) || !(cut < 0.5 * upper)) return;
    filter(cut, upper, std::min(degree_for(cut, upper), informed ? missing_degree(cut, upper) : largest_degree));
    orthonormalize_start_block(0);
    start();
    const double worst = worst_ratio();
    if (worst <= 1.0 || (stage >= 2 && worst > 0.1 * last)) return;
    last = worst;
  }
}

/// The degree that should finish all wanted pairs: against the part of the spectrum above the cut, a filter of
/// degree m gains exp(2 m sqrt((cut - lambda) / upper)) for the vector of lambda.
template <class T>
int LobpcgRun<T>::missing_degree(double cut, double upper) const {
  double degree = 10.0;
  for (int j = 0; j < std::min(options_.pairs, active()); ++j) {
    const double gain = 2.0 * std::sqrt(std::max(cut - ritz_.values[static_cast<std::size_t>(j)], 0.0) / upper);
    const double wanted = std::log(2.0 * std::max(ratio(j), 1.0));
    degree = std::max(degree, wanted < largest_degree * gain ? 1.1 * wanted / gain : largest_degree);
  }
  return static_cast<int>(degree);
}

/// X <- p(A) X, p(0) = 1 and p small on [lower, upper]: the residual polynomial of Chebyshev semi-iteration, by
/// its three-term recurrence. Uses the storage of w and aw.
template <class T>
void LobpcgRun<T>::filter(double lower, double upper, int degree) {
  const double center = 0.5 * (upper + lower);
  const double half_width = 0.5 * (upper - lower);
  const double sigma = center / half_width;
  double rho = 1.0 / sigma;
  Panel<T>* now = &state_.x;
  Panel<T>* before = &state_.w;
  state_.set_w_columns(active());
  ProductStep<T> step;
  step.alpha = -1.0 / center;
  step.beta = 1.0;
  for (int k = 0; k < degree; ++k) {
    space_.apply_step(a_, now->view(), step, state_.aw.view(), before->view());
    std::swap(now, before);
    const double next = 1.0 / (2.0 * sigma - rho);
    step.alpha = -2.0 * next / half_width;
    step.beta = 1.0 + next * rho;
    step.gamma = -next * rho;
    rho = next;
  }
  if (now != &state_.x) std::swap(state_.x, state_.w);
}

template class LobpcgRun<float>;
template class LobpcgRun<double>;

}  // namespace block_eigs
