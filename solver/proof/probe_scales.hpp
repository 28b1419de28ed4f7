#pragma once

#include "solver/proof/probe.hpp"

namespace block_eigs {

/// Numbers of a probe, in units of eigenvalues unless said otherwise.
struct ProbeScales {
  double sigma = 0.0;   ///< the last found value
  double margin = 0.0;  ///< within which the found values are known
  double width = 0.0;   ///< of the found values, or within what they are known
  double spread = 0.0;  ///< of the found values, or what stands for it where there is none
  double reach = 0.0;   ///< farther before sigma no eigenvalue is looked for
};

/// How far the found values may be from eigenvalues, ten times over, where products are rounded to `epsilon`:
/// residuals and rounding. `images` is B times the found vectors. Collective.
template <class T>
double accuracy(BlockSpace<T>& space, const ProbeOperators<T>& operators, const FoundPairs<T>& found,
                ConstBlockView<T> images, double epsilon);

/// Collective.
template <class T>
ProbeScales probe_scales(BlockSpace<T>& space, const ProbeOperators<T>& operators, const FoundPairs<T>& found,
                         ConstBlockView<T> images);

}  // namespace block_eigs
