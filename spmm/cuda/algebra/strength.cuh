#pragma once

#include "spmm/device/sparse_algebra.hpp"

namespace block_eigs::cuda {

/// Squared norms of the blocks of A: where blocks are single entries, the squares of these.
struct SquaredNorms {
  CsrView<double> view;
  bool entries = false;

  __device__ double operator[](Offset k) const {
    const double value = view.values[k];
    return entries ? value * value : value;
  }
};

inline SquaredNorms squares_of(const CsrView<double>& a, const CouplingStrength& strength, int unknowns) {
  return unknowns == 1 ? SquaredNorms{a, true} : SquaredNorms{strength.blocks.view(), false};
}

/// CouplingStrength, as it is asked.
struct Strength {
  const double* norms;
  double squared_threshold;

  __device__ bool is_hub(LocalIndex node) const { return signbit(norms[node]); }
  /// Of two nodes, |A_ij|^2 != 0 between them.
  __device__ bool is_strong(LocalIndex i, LocalIndex j, double squared) const {
    return !(squared <= squared_threshold * norms[i] * fabs(norms[j]));
  }
};

}  // namespace block_eigs::cuda
