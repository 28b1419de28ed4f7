#include "apps/petsc/ksp_blockcg.hpp"

#include "apps/petsc/guarded.hpp"
#include "apps/petsc/petsc_input.hpp"
#include "io/petsc/bridge/petsc_check.hpp"

namespace block_eigs::petsc {

namespace {

constexpr const char* setting_up = "setting up KSP of type blockcg";
constexpr auto success = static_cast<PetscErrorCode>(0);

KspBlockcg& own_of(KSP ksp) { return *static_cast<KspBlockcg*>(ksp->data); }

/// PETSc sets the type of a PC before it asks for that of the KSP: what it takes by default, and no option names,
/// is not a choice of the program's.
void put_preconditioner(KSP ksp) {
  if (own_of(ksp).keep_pc) return;
  PC pc = nullptr;
  PCType type = nullptr;
  check(KSPGetPC(ksp, &pc), setting_up);
  check(PCGetType(pc, &type), setting_up);
  const auto object = reinterpret_cast<PetscObject>(pc);
  PetscBool by_default = PETSC_FALSE;
  PetscBool named = PETSC_FALSE;
  check(PetscObjectTypeCompareAny(object, &by_default, PCILU, PCICC, PCBJACOBI, ""), setting_up);
  check(PetscOptionsHasName(object->options, object->prefix, "-pc_type", &named), setting_up);
  if (type == nullptr || (by_default == PETSC_TRUE && named == PETSC_FALSE)) leave_preconditioner_to_us(pc);
}

PetscErrorCode set_up(KSP ksp) {
  PetscFunctionBegin;
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(ksp));
  PetscCheck(
      ksp->converged == KSPConvergedDefault, comm, PETSC_ERR_SUP,
      "KSP type blockcg has the default convergence test alone: relative to the norm of the right-hand side");
  PetscCall(guarded(reinterpret_cast<PetscObject>(ksp), [&] { put_preconditioner(ksp); }));
  PetscFunctionReturn(success);
}

/// `Items` is PetscOptionItems* in older versions of PETSc and PetscOptionItems since.
template <class Items>
PetscErrorCode set_from_options(KSP ksp, Items PetscOptionsObject) {
  PetscBool keep = own_of(ksp).keep_pc ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "KSP blockcg Options");
  PetscCall(read_overrides(PetscOptionsObject, "-ksp_blockcg_options",
                           "key=value of block-solve's config, separated by commas", "KSPSetFromOptions",
                           own_of(ksp)));
  PetscCall(PetscOptionsBool("-ksp_blockcg_keep_pc", "Use the PC also where PETSc has taken it by default",
                             "KSPSetFromOptions", keep, &keep, nullptr));
  PetscOptionsHeadEnd();
  own_of(ksp).keep_pc = keep == PETSC_TRUE;
  PetscFunctionReturn(success);
}

PetscErrorCode view(KSP ksp, PetscViewer viewer) { return view_options(viewer, "block CG", own_of(ksp)); }

PetscErrorCode reset(KSP ksp) {
  own_of(ksp).system.reset();
  return success;
}

PetscErrorCode destroy(KSP ksp) {
  delete static_cast<KspBlockcg*>(ksp->data);
  ksp->data = nullptr;
  return success;
}

PetscErrorCode create(KSP ksp) {
  PetscFunctionBegin;
  ksp->data = new KspBlockcg;
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_LEFT, 3));
  ksp->ops->setup = set_up;
  ksp->ops->solve = solve_blockcg;
  ksp->ops->matsolve = solve_blockcg_block;
  ksp->ops->setfromoptions = set_from_options;
  ksp->ops->view = view;
  ksp->ops->reset = reset;
  ksp->ops->destroy = destroy;
  ksp->ops->buildsolution = KSPBuildSolutionDefault;
  ksp->ops->buildresidual = KSPBuildResidualDefault;
  PetscFunctionReturn(success);
}

}  // namespace

PetscErrorCode register_blockcg() { return KSPRegister("blockcg", create); }

}  // namespace block_eigs::petsc
