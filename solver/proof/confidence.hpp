#pragma once

#include <limits>

namespace block_eigs {

/// The Chebyshev polynomial of `degree` on [lower, upper], 0 < lower < upper: at most 1 there, growing below.
struct ProbeFilter {
  double lower = 0.0;
  double upper = 1.0;
  int degree = 1;

  /// The logarithm of its value at nu <= lower.
  double log_value(double nu) const;
  /// By what a further degree multiplies it, in the logarithm.
  double growth(double nu) const;
};

/// What a filtered random block can show, see docs/theory.md, "Proof". Energies are those of S = A - sigma B, in
/// units of a block whose entries have variance 1.
struct ProbeStatistics {
  int columns = 2;        ///< of the block, at least 2
  double energy = 0.0;    ///< trace of X^T S X of the filtered block, p in units of its maximum in the interval
  double overlap = 1.0;   ///< standard deviation of the component that a missed vector has in a start vector
  double response = 1.0;  ///< minus the eigenvalue of T = M^-1 S that belongs to a gap of 1
};

/// No more than this is the probability that a missed vector whose filtered component has the mean energy -e stays
/// unseen (X^T S X is positive semidefinite) although the rest of the block has left no more than `energy` in
/// all: at most K (energy / (z e))^q with q = (m - 1)/2, K = 1 / (2^q Gamma(q + 1)) and z as in the theory.
double miss_probability(int columns, double energy, double e);

/// How far below sigma an eigenvalue must lie for `miss_probability` to be `probability` or less; infinity where
/// even `largest` is not far enough.
double smallest_visible_gap(const ProbeStatistics& statistics, const ProbeFilter& filter, double probability,
                            double largest);

}  // namespace block_eigs
