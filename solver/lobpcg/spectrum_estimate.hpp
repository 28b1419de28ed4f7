#pragma once

#include <cstdint>

#include "solver/space/block_space.hpp"
#include "solver/space/panel.hpp"
#include "spmm/matrix/linear_operator.hpp"

namespace block_eigs {

/// Where the spectrum of a symmetric matrix is, by some steps of Lanczos.
struct SpectrumEstimate {
  double lowest = 0.0;   ///< smallest Ritz value: some eigenvalue is no larger
  double highest = 0.0;  ///< largest one: some eigenvalue is no smaller
  double margin = 0.0;   ///< what lies beyond them lies within this distance: safe in practice, not proven
};

/// Twelve steps from a random vector of `seed`; the margin is the norm of what the last one left (Zhou and Li,
/// Linear Algebra Appl. 435, 2011). `norm` is about that of A. `v`, `before` and `image` are work space for a
/// column each. Collective.
template <class T>
SpectrumEstimate estimate_spectrum(BlockSpace<T>& space, LinearOperator<T>& a, double norm, std::uint64_t seed,
                                   Panel<T>& v, Panel<T>& before, Panel<T>& image);

}  // namespace block_eigs
