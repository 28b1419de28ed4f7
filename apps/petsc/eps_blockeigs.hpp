#pragma once

#include <slepc/private/epsimpl.h>

#include <string>
#include <vector>

namespace block_eigs::petsc {

/// What an EPS of the type blockeigs holds.
struct EpsBlockeigs {
  std::vector<std::string> overrides;  ///< of the config: "eigensolver.verify=inertia"
  // Of the last solve, for EPSView.
  std::vector<std::string> notes;
  std::string device;
  double setup_seconds = 0.0;
  double solve_seconds = 0.0;
};

/// EPSSolve of the type; collective.
PetscErrorCode solve_blockeigs(EPS eps);
/// Makes EPSSetType(eps, "blockeigs") work. Not collective.
PetscErrorCode register_blockeigs();

}  // namespace block_eigs::petsc
