#pragma once

#include <cstdint>
#include <span>

#include "solver/proof/probe.hpp"

// Pairs that neither iterations nor a filter of A - sigma B see, because all that tells them from others is small,
// but which come first in another pencil (C, D), D a diagonal.
//
// Stiff rows, C = A: where rows of A differ by orders of magnitude, vectors of small eigenvalues that live in
// large rows (floating or weakly held stiff parts) hide among others of these rows, which are large, and rounding
// errors by the norm of A are no smaller than what tells them apart.
//
// Soft masses, C = A + t B: vectors for which both x'Ax and x'Bx are small hardly occur in a random block, by its
// components in the inner product of B, nor in residuals A x - lambda B x, whatever their eigenvalue is.
namespace block_eigs {

/// Pairs that are looked for at once, at most.
constexpr int most_of_pencil = 16;

/// Whether rows of A differ so much that there may be stiff ones.
template <class T>
bool hides_stiff_rows(const LinearOperator<T>& a) {
  constexpr double differing = 100.0;
  return a.norm_inf() > differing * a.typical_row_sum();
}

struct PencilProbeOptions {
  int pairs = 1;       ///< looked for, most_of_pencil at most
  int iterations = 0;  ///< of LOBPCG
  /// Whether it stays D-orthogonal to the found vectors, for which that should be about B-orthogonal; else they
  /// are found again where they come first.
  bool beside_found = true;
  std::uint64_t seed = 1;
};

/// Looks for pairs of (A, B) before the last found one among leading eigenvectors of the pencil (C, D), `scale`
/// being the own entries of D, about those of C's diagonal and positive. Some of these are approximated by LOBPCG,
/// `preconditioner` being one of C or null, and what a Rayleigh-Ritz step for (A, B) makes of them beside the
/// found vectors is looked at. Result as of probe(), without a statement on gaps. For smallest pairs. Collective;
/// throws as lobpcg does.
template <class T>
ProbeResult<T> probe_pencil(BlockSpace<T>& space, const ProbeOperators<T>& operators, const FoundPairs<T>& found,
                            LinearOperator<T>& c, std::span<const double> scale, LinearOperator<T>* preconditioner,
                            const PencilProbeOptions& options);

}  // namespace block_eigs
