#include "solver/lobpcg/spectrum_estimate.hpp"

#include <limits>
#include <utility>
#include <vector>

#include "solver/small/lapack.hpp"

namespace block_eigs {

namespace {

/// Smallest and largest eigenvalue of a tridiagonal matrix. Collective.
template <class T>
SpectrumEstimate ends_of(BlockSpace<T>& space, const std::vector<double>& diagonal,
                         const std::vector<double>& beside) {
  SmallMatrix ends(2, 1);
  space.on_root(
      [&] {
        const std::vector<double> values = lapack::tridiagonal_eigenvalues(diagonal, beside);
        ends(0, 0) = values.front();
        ends(1, 0) = values.back();
      },
      {&ends});
  return {ends(0, 0), ends(1, 0), 0.0};
}

}  // namespace

template <class T>
SpectrumEstimate estimate_spectrum(BlockSpace<T>& space, LinearOperator<T>& a, double norm, std::uint64_t seed,
                                   Panel<T>& v, Panel<T>& before, Panel<T>& image) {
  constexpr int steps = 12;
  Kernels<T>& kernels = space.kernels();
  for (Panel<T>* panel : {&v, &before, &image}) panel->set_columns(1);
  space.fill_random(v.view(), seed);
  double beta = space.column_norms(v.view())[0];
  std::vector<double> diagonal, beside;
  for (int k = 0; k < steps; ++k) {
    kernels.axpby(0.0, v.view(), 1.0 / beta, v.view());
    if (k > 0) beside.push_back(beta);
    a.apply(v.view(), image.view());
    const double alpha = space.column_dots(v.view(), image.view())[0];
    diagonal.push_back(alpha);
    kernels.axpby(-alpha, v.view(), 1.0, image.view());
    if (k > 0) kernels.axpby(-beta, before.view(), 1.0, image.view());
    beta = space.column_norms(image.view())[0];
    if (!(beta > std::numeric_limits<T>::epsilon() * norm)) break;
    std::swap(before, v);
    std::swap(v, image);
  }
  SpectrumEstimate estimate = ends_of(space, diagonal, beside);
  estimate.margin = beta;
  return estimate;
}

template SpectrumEstimate estimate_spectrum(BlockSpace<float>&, LinearOperator<float>&, double, std::uint64_t,
                                            Panel<float>&, Panel<float>&, Panel<float>&);
template SpectrumEstimate estimate_spectrum(BlockSpace<double>&, LinearOperator<double>&, double, std::uint64_t,
                                            Panel<double>&, Panel<double>&, Panel<double>&);

}  // namespace block_eigs
