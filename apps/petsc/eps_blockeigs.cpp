#include "apps/petsc/eps_blockeigs.hpp"

#include "apps/petsc/guarded.hpp"
#include "apps/petsc/petsc_input.hpp"
#include "apps/petsc/type_options.hpp"
#include "io/petsc/bridge/petsc_check.hpp"

namespace block_eigs::petsc {

namespace {

constexpr const char* setting_up = "setting up EPS of type blockeigs";
constexpr auto success = static_cast<PetscErrorCode>(0);

TypeOptions& own_of(EPS eps) { return *static_cast<TypeOptions*>(eps->data); }

void put_preconditioner(EPS eps) {
  if (reinterpret_cast<PetscObject>(eps->st)->type_name == nullptr)
    check(STSetType(eps->st, STPRECOND), setting_up);
  check(STPrecondSetKSPHasMat(eps->st, PETSC_TRUE), setting_up);
  KSP ksp = nullptr;
  PC pc = nullptr;
  PCType type = nullptr;
  KSPType solver = nullptr;
  check(STGetKSP(eps->st, &ksp), setting_up);
  check(KSPGetType(ksp, &solver), setting_up);
  if (solver == nullptr) check(KSPSetType(ksp, KSPPREONLY), setting_up);
  check(KSPGetPC(ksp, &pc), setting_up);
  check(PCGetType(pc, &type), setting_up);
  // Options come after this and win.
  if (type == nullptr) leave_preconditioner_to_us(pc);
}

PetscErrorCode set_default_st(EPS eps) {
  return guarded(reinterpret_cast<PetscObject>(eps), [&] { put_preconditioner(eps); });
}

PetscErrorCode set_up(EPS eps) {
  PetscFunctionBegin;
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(eps));
  EPSCheckHermitianDefinite(eps);
  if (eps->which == 0) eps->which = EPS_SMALLEST_REAL;
  PetscCheck(eps->which == EPS_SMALLEST_REAL || eps->which == EPS_LARGEST_REAL, comm, PETSC_ERR_SUP,
             "EPS type blockeigs computes smallest real or largest real eigenvalues (-eps_smallest_real, "
             "-eps_largest_real), none by magnitude or inside the spectrum");
  EPSCheckUnsupported(eps,
                      EPS_FEATURE_ARBITRARY | EPS_FEATURE_REGION | EPS_FEATURE_EXTRACTION | EPS_FEATURE_TWOSIDED);
  PetscCheck(eps->conv == EPS_CONV_REL || eps->conv == EPS_CONV_ABS || eps->conv == EPS_CONV_NORM, comm,
             PETSC_ERR_SUP,
             "EPS type blockeigs has the convergence tests rel, abs and norm, not one of the program's own");
  PetscCheck(eps->stop == EPS_STOP_BASIC || eps->stop == EPS_STOP_USER, comm, PETSC_ERR_SUP,
             "EPS type blockeigs has the stopping tests basic and user");
  if (eps->nev <= 0) eps->nev = 1;
  // Room for the pairs and for the initial space, which EPS puts into the same vectors.
  const PetscInt least = PetscMax(eps->nev, eps->nini < 0 ? -eps->nini : 0);
  PetscCheck(eps->ncv <= 0 || eps->ncv >= eps->nev, comm, PETSC_ERR_USER_INPUT,
             "The value of ncv must be at least nev");
  if (eps->ncv < least) eps->ncv = least;
  if (eps->mpd <= 0) eps->mpd = eps->ncv;
  if (eps->max_it <= 0) eps->max_it = 500;
  PetscCall(EPSAllocateSolution(eps, 0));
  PetscCall(EPS_SetInnerProduct(eps));
  PetscFunctionReturn(success);
}

PetscErrorCode set_up_sort(EPS eps) {
  eps->sc->comparison = eps->which == EPS_LARGEST_REAL ? SlepcCompareLargestReal : SlepcCompareSmallestReal;
  eps->sc->comparisonctx = nullptr;
  eps->sc->map = nullptr;
  eps->sc->mapobj = nullptr;
  return success;
}

/// `Items` is PetscOptionItems* in older versions of PETSc and PetscOptionItems since.
template <class Items>
PetscErrorCode set_from_options(EPS eps, Items PetscOptionsObject) {
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "EPS blockeigs Options");
  PetscCall(read_overrides(PetscOptionsObject, "-eps_blockeigs_options",
                           "key=value of block-eigs' config, separated by commas", "EPSSetFromOptions",
                           own_of(eps)));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(success);
}

PetscErrorCode view(EPS eps, PetscViewer viewer) {
  return view_options(viewer, "block LOBPCG with locking", own_of(eps));
}

PetscErrorCode destroy(EPS eps) {
  delete static_cast<TypeOptions*>(eps->data);
  eps->data = nullptr;
  return success;
}

PetscErrorCode create(EPS eps) {
  eps->data = new TypeOptions;
  eps->useds = PETSC_FALSE;
  eps->categ = EPS_CATEGORY_PRECOND;
  eps->ops->solve = solve_blockeigs;
  eps->ops->setup = set_up;
  eps->ops->setupsort = set_up_sort;
  eps->ops->setfromoptions = set_from_options;
  eps->ops->destroy = destroy;
  eps->ops->view = view;
  eps->ops->setdefaultst = set_default_st;
  return success;
}

}  // namespace

PetscErrorCode register_blockeigs() { return EPSRegister("blockeigs", create); }

}  // namespace block_eigs::petsc
