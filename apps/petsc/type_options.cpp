#include "apps/petsc/type_options.hpp"

namespace block_eigs::petsc {

PetscErrorCode view_options(PetscViewer viewer, const char* method, const TypeOptions& own) {
  PetscBool ascii = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
  if (ascii == PETSC_FALSE) PetscFunctionReturn(static_cast<PetscErrorCode>(0));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  block-eigs: %s\n", method));
  for (const std::string& text : own.overrides)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  option: %s\n", text.c_str()));
  if (!own.device.empty()) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  device: %s\n", own.device.c_str()));
    for (const std::string& text : own.notes) PetscCall(PetscViewerASCIIPrintf(viewer, "  %s\n", text.c_str()));
    PetscCall(
        PetscViewerASCIIPrintf(viewer, "  seconds: set-up %g, solve %g\n", own.setup_seconds, own.solve_seconds));
  }
  PetscFunctionReturn(static_cast<PetscErrorCode>(0));
}

}  // namespace block_eigs::petsc
