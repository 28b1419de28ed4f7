#pragma once

#include <cstdint>
#include <span>

#include "solver/proof/probe.hpp"

namespace block_eigs {

/// Pairs that are looked for at once, at most.
constexpr int most_of_stiff_rows = 16;

/// Whether rows of A differ so much that there may be any.
template <class T>
bool hides_stiff_rows(const LinearOperator<T>& a) {
  constexpr double differing = 100.0;
  return a.norm_inf() > differing * a.typical_row_sum();
}

struct StiffRowsOptions {
  int pairs = 1;       ///< looked for, most_of_stiff_rows at most
  int iterations = 0;  ///< of LOBPCG
  std::uint64_t seed = 1;
};

/// Looks for pairs before the last found one where rows of A differ by orders of magnitude: vectors of small
/// eigenvalues that live in large rows (floating or weakly held stiff parts) hide among others of these rows,
/// which are large, and rounding errors by the norm of A are no smaller than what tells them apart. In the pencil
/// (A, D), `scale` being the own entries of D, about |a_ii| and positive, they come first. So some leading
/// eigenvectors of that pencil beside the found ones are approximated by LOBPCG, `preconditioner` being one of A
/// or null, and what a Rayleigh-Ritz step for (A, B) makes of them is looked at. Result as of probe(), without a
/// statement on gaps. For smallest pairs. Collective; throws as lobpcg does.
template <class T>
ProbeResult<T> probe_stiff_rows(BlockSpace<T>& space, const ProbeOperators<T>& operators,
                                const FoundPairs<T>& found, std::span<const double> scale,
                                LinearOperator<T>* preconditioner, const StiffRowsOptions& options);

}  // namespace block_eigs
