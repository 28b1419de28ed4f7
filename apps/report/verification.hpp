#pragma once

#include <vector>

#include "solver/report.hpp"

namespace block_eigs {

/// What holds for eigenpairs as they stand in memory and go into the file, computed in double from A and B alone.
struct Verification {
  std::vector<double> eigenvalues;     ///< as given, or Rayleigh quotients
  std::vector<double> residual_norms;  ///< ||A v - lambda B v||_2
  std::vector<double> error_bounds;    ///< NaN where none is known
  bool rigorous = false;
  std::vector<Outcome> outcomes;
};

/// What holds for solutions as they go into the file.
struct SolutionCheck {
  std::vector<double> rhs_norms;
  std::vector<double> residual_norms;  ///< ||f - A x||_2
  std::vector<Outcome> outcomes;
};

}  // namespace block_eigs
