#pragma once

#include <cstdint>
#include <vector>

#include "solver/lobpcg/lobpcg.hpp"
#include "solver/proof/confidence.hpp"
#include "solver/space/block_space.hpp"
#include "spmm/matrix/dense_block.hpp"
#include "spmm/matrix/linear_operator.hpp"

namespace block_eigs {

/// What a probe works with.
template <class T>
struct ProbeOperators {
  LinearOperator<T>& a;
  LinearOperator<T>* b = nullptr;               ///< null is the identity
  LinearOperator<T>* preconditioner = nullptr;  ///< symmetric positive definite, linear; null is the identity
  /// About the largest eigenvalue of M^-1 A; 0 where nothing is known. Without a preconditioner norms are taken.
  /// What is wrong with it costs power, not truth: the statement rests on what the filter has left.
  double spectral_bound = 0.0;
  /// The same in float, for filters that run in it (T = double, B the identity); null where there is none.
  LinearOperator<float>* a_in_float = nullptr;
  LinearOperator<float>* preconditioner_in_float = nullptr;  ///< null only where `preconditioner` is
};

/// Pairs at the end of the spectrum that `which` names, in order: all that a solve has found.
template <class T>
struct FoundPairs {
  Which which = Which::smallest;
  const std::vector<double>& values;
  const std::vector<double>& residual_norms;
  ConstBlockView<T> vectors;      ///< own rows of n x pairs, B-orthonormal
  ConstBlockView<T> constraints;  ///< what the solve stayed orthogonal to; without columns: nothing
};

struct ProbeOptions {
  int degree = 0;  ///< of the filter: products with A (and M^-1) of every column
  std::uint64_t seed = 1;
  double probability = 0.01;  ///< that the statement may be wrong with
  bool in_float = false;      ///< the filter runs in float, with twice the columns; see probes_in_float
};

/// What a probe has seen.
template <class T>
struct ProbeResult {
  /// Vectors that are B-orthogonal to all that was found and whose Rayleigh quotients lie before the last found
  /// value: each is proof of a pair that was missed (Courant-Fischer). B-orthonormal Ritz vectors, best first.
  DenseBlock<T> missed;
  std::vector<double> missed_values;
  /// Where nothing was missed: any pair that lies this far before the last found one would have been seen with
  /// probability 1 - options.probability; infinity where the filter was too short to see any.
  double smallest_gap = 0.0;
  /// The gap rests on how the preconditioner takes the found vectors; false: on norms alone.
  bool calibrated = false;
  double mean_distance = 0.0;  ///< of all eigenvalues from the last found one, where that is known; else 0
  int products = 0;            ///< columns multiplied with A
};

/// How far the values may be from eigenvalues, ten times over, in units of eigenvalues: residuals and rounding.
/// Collective.
template <class T>
double known_within(BlockSpace<T>& space, const ProbeOperators<T>& operators, const FoundPairs<T>& found);

/// Variance of the numbers that fill_random draws.
constexpr double random_variance = 1.0 / 3.0;

/// Columns of the random block: as many as 32 bytes of a row hold.
template <class T>
constexpr LocalIndex probe_columns() {
  return static_cast<LocalIndex>(32 / sizeof(T));
}

/// Whether a filter in float is possible, and what float leaves open of eigenvalues is little beside the spread of
/// those that were found. Collective.
template <class T>
bool probes_in_float(BlockSpace<T>& space, const ProbeOperators<T>& operators, const FoundPairs<T>& found);

/// Found vectors that the statement of a preconditioned probe is calibrated by, at most.
constexpr LocalIndex most_calibrated = 4;

/// Looks for eigenpairs of A x = lambda B x that come before the last found one and are not among the found: a
/// random block, B-orthogonal to these, passes a Chebyshev filter in T = M^-1 (A - sigma B), sigma the last found
/// value, small where eigenvalues of T are positive; by Sylvester's law of inertia T has a negative one in that
/// complement for every pair that was missed. Then Rayleigh-Ritz. Needs at least one found pair and as many rows
/// beside the deflated vectors as the block has columns. What is measured and found after the filter is in T
/// whatever that ran in. A filter that leaves the range of numbers, since a missed pair lies so far before the
/// others, is repeated with half the degree. Collective; throws as lobpcg does.
template <class T>
ProbeResult<T> probe(BlockSpace<T>& space, const ProbeOperators<T>& operators, const FoundPairs<T>& found,
                     const ProbeOptions& options);

/// What the span of `x` says of missed pairs: x is made B-orthogonal to all that was found, then Rayleigh-Ritz.
/// Collective.
template <class T>
ProbeResult<T> missed_in_span(BlockSpace<T>& space, const ProbeOperators<T>& operators, const FoundPairs<T>& found,
                              DenseBlock<T> x);

}  // namespace block_eigs
