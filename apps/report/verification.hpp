#pragma once

#include <vector>

#include "solver/report.hpp"

namespace block_eigs {

/// What error bounds rest on.
enum class BoundKind {
  rigorous,  ///< on theorems, rounding errors of finding norms apart
  probable,  ///< on an eigenvalue of B that is bounded with a probability of 99.9999%
  unknown    ///< there are none
};
const char* name_of(BoundKind kind);

/// What holds for eigenpairs as they stand in memory and go into the file, computed in double from A and B alone.
struct Verification {
  std::vector<double> eigenvalues;     ///< as given, or Rayleigh quotients
  std::vector<double> residual_norms;  ///< ||A v - lambda B v||_2
  std::vector<double> attained;        ///< tolerance that the residual would just meet, by the same criterion
  std::vector<double> by_norm;         ///< tolerance met by Convergence::norm; infinite where none is, or unknown
  std::vector<double> error_bounds;    ///< NaN where none is known
  BoundKind bounds = BoundKind::unknown;
  std::vector<Outcome> outcomes;
  double requested = 0.0;       ///< tolerance
  double orthonormality = 0.0;  ///< largest entry of |V^T B V - I|
};

/// What holds for solutions as they go into the file.
struct SolutionCheck {
  std::vector<double> rhs_norms;
  std::vector<double> residual_norms;  ///< ||f - A x||_2
  std::vector<Outcome> outcomes;
};

}  // namespace block_eigs
