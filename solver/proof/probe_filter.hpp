#pragma once

#include "solver/proof/confidence.hpp"
#include "solver/proof/deflation.hpp"
#include "solver/proof/probe.hpp"
#include "solver/proof/probe_scales.hpp"

namespace block_eigs {

/// A random block after its filter.
template <class T>
struct FilteredBlock {
  DenseBlock<T> x;     ///< own rows of n x probe_columns<T>(), not yet without what V's errors brought back
  ProbeFilter filter;  ///< p in units of its value at sigma
  ProbeStatistics statistics;  ///< but for the energy
  bool filtered = false;       ///< false: nothing is known of the spectrum, and x is as it was drawn
  bool in_range = true;        ///< false: numbers have become too large
  double mean_distance = 0.0;  ///< of eigenvalues from sigma, where T = S; else 0
  int products = 0;            ///< columns multiplied with A
};

/// A random block, B-orthogonal to what was found, passes the filter of options.degree. Collective.
template <class T>
FilteredBlock<T> filter_random_block(BlockSpace<T>& space, const ProbeOperators<T>& operators,
                                     const FoundPairs<T>& found, Deflation<T>& deflation,
                                     const ProbeScales& scales, const ProbeOptions& options);

}  // namespace block_eigs
