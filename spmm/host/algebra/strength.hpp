#pragma once

#include <cmath>

#include "spmm/device/sparse_algebra.hpp"

namespace block_eigs::host {

/// Squared norms of the blocks of A: where blocks are single entries, the squares of these.
struct SquaredNorms {
  CsrView<double> view;
  bool entries = false;

  double operator[](Offset k) const { return entries ? view.values[k] * view.values[k] : view.values[k]; }
};

inline SquaredNorms squares_of(const CsrView<double>& a, const CouplingStrength& strength, int unknowns) {
  return unknowns == 1 ? SquaredNorms{a, true} : SquaredNorms{strength.blocks.view(), false};
}

/// CouplingStrength, as it is asked.
struct Strength {
  const double* norms;
  double squared_threshold;

  bool is_hub(LocalIndex node) const { return std::signbit(norms[node]); }
  /// Of two nodes, |A_ij|^2 != 0 between them.
  bool is_strong(LocalIndex i, LocalIndex j, double squared) const {
    return !(squared <= squared_threshold * norms[i] * std::abs(norms[j]));
  }
};

}  // namespace block_eigs::host
