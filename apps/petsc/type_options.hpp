#pragma once

#include <petscviewer.h>

#include <array>
#include <string>
#include <vector>

#include "apps/in_memory/run_answer.hpp"

namespace block_eigs::petsc {

/// What a solver of one of our types holds: options, and what its view prints of the last solve.
struct TypeOptions {
  std::vector<std::string> overrides;  ///< of the config: "eigensolver.verify=inertia"
  std::vector<std::string> notes;
  std::string device;  ///< empty where nothing has been solved yet
  double setup_seconds = 0.0;
  double solve_seconds = 0.0;

  /// Notes are what was said of the preconditioner, `proof` where there is one, and of the run's end.
  template <class T>
  void take(const RunAnswer<T>& answer, const std::string& proof = "") {
    notes = answer.notes.preconditioner;
    for (const std::string& text : {proof, answer.run.remark, answer.notes.advice_change})
      if (!text.empty()) notes.push_back(text);
    device = answer.run.device;
    setup_seconds = answer.run.setup_seconds;
    solve_seconds = answer.run.solve_seconds;
  }
};

/// Reads `name`, a list of key=value, between PetscOptionsHeadBegin and End. `Items` is PetscOptionItems* in older
/// versions of PETSc and PetscOptionItems since. Collective.
template <class Items>
PetscErrorCode read_overrides(Items PetscOptionsObject, const char* name, const char* about, const char* function,
                              TypeOptions& own) {
  constexpr PetscInt most = 32;
  std::array<char*, most> texts{};
  PetscInt count = most;
  PetscBool given = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(PetscOptionsStringArray(name, about, function, texts.data(), &count, &given));
  if (given == PETSC_TRUE) own.overrides.assign(texts.begin(), texts.begin() + count);
  if (given == PETSC_TRUE)
    for (PetscInt i = 0; i < count; ++i) PetscCall(PetscFree(texts[static_cast<std::size_t>(i)]));
  PetscFunctionReturn(static_cast<PetscErrorCode>(0));
}

/// Prints `own` below `method` where the viewer is one of text. Collective.
PetscErrorCode view_options(PetscViewer viewer, const char* method, const TypeOptions& own);

}  // namespace block_eigs::petsc
