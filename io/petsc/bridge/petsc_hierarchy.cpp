#include "io/petsc/bridge/petsc_hierarchy.hpp"

#include <petscksp.h>

#include <cmath>
#include <memory>
#include <utility>

#include "io/petsc/bridge/petsc_matrix.hpp"
#include "io/petsc/bridge/petsc_options.hpp"
#include "io/petsc/bridge/petsc_session.hpp"
#include "spmm/error.hpp"

namespace block_eigs::petsc {

namespace {

constexpr const char* building = "preconditioner amg: building the multigrid hierarchy";
constexpr const char* copying = "preconditioner amg: copying the multigrid hierarchy";

struct DestroyPc {
  void operator()(_p_PC* pc) const noexcept { static_cast<void>(PCDestroy(&pc)); }
};
using OwnedPc = std::unique_ptr<_p_PC, DestroyPc>;

/// Coarsening down to what is solved densely; no work on PETSc's own smoothers beyond what its set-up insists on.
std::string default_options(const std::string& builder) {
  if (builder == "hypre") {
    return "-pc_type hypre -pc_hypre_type boomeramg -pc_hypre_boomeramg_coarsen_type HMIS "
           "-pc_hypre_boomeramg_interp_type ext+i -pc_hypre_boomeramg_P_max 4 "
           "-pc_hypre_boomeramg_strong_threshold 0.5 ";
  }
  return "-pc_type gamg -pc_gamg_type agg -pc_gamg_agg_nsmooths 1 -pc_gamg_coarse_eq_limit 400 "
         "-pc_gamg_esteig_ksp_max_it 8 -mg_levels_ksp_max_it 1 -mg_levels_pc_type jacobi ";
}

void attach_near_null_space(const Communicator& comm, Mat a, const HierarchyOptions& options) {
  if (options.near_null_space.modes == 0) return;
  std::vector<Vec> modes(static_cast<std::size_t>(options.near_null_space.modes));
  for (std::size_t m = 0; m < modes.size(); ++m) {
    check(MatCreateVecs(a, &modes[m], nullptr), building);
    PetscScalar* entries = nullptr;
    check(VecGetArray(modes[m], &entries), building);
    const std::size_t rows = options.near_null_space.vectors.size() / modes.size();
    for (std::size_t i = 0; i < rows; ++i) entries[i] = options.near_null_space.vectors[i * modes.size() + m];
    check(VecRestoreArray(modes[m], &entries), building);
    // PETSc wants them orthonormal.
    for (std::size_t k = 0; k < m; ++k) {
      PetscScalar dot = 0.0;
      check(VecDot(modes[m], modes[k], &dot), building);
      check(VecAXPY(modes[m], -dot, modes[k]), building);
    }
    check(VecNormalize(modes[m], nullptr), building);
  }
  MatNullSpace space = nullptr;
  check(MatNullSpaceCreate(comm.handle(), PETSC_FALSE, options.near_null_space.modes, modes.data(), &space),
        building);
  check(MatSetNearNullSpace(a, space), building);
  check(MatNullSpaceDestroy(&space), building);
  for (Vec& mode : modes) check(VecDestroy(&mode), building);
}

OwnedPc set_up(const Communicator& comm, Mat a, const HierarchyOptions& options) {
  PC pc = nullptr;
  check(PCCreate(comm.handle(), &pc), building);
  OwnedPc owned(pc);
  const ScopedOptions scoped(default_options(options.builder), options.options);
  check(PCSetOptionsPrefix(pc, option_prefix), building);
  check(PCSetOperators(pc, a, a), building);
  check_input(PCSetFromOptions(pc), "preconditioner.options");
  check(PCSetUp(pc), building);
  scoped.require_used();
  return owned;
}

OwnedMat transposed(Mat a) {
  Mat result = nullptr;
  check(MatTranspose(a, MAT_INITIAL_MATRIX, &result), copying);
  return OwnedMat(result);
}

/// PETSc lists both from coarse to fine; operators without the finest.
GridHierarchy copy_levels(PC pc, const CsrRows& rows, const Partition& partition) {
  PetscInt count = 0;
  Mat* interpolations = nullptr;
  Mat* operators = nullptr;
  check(PCGetInterpolations(pc, &count, &interpolations), copying);
  check(PCGetCoarseOperators(pc, &count, &operators), copying);
  GridHierarchy levels(static_cast<std::size_t>(count));
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const std::size_t from_coarse = levels.size() - 1 - l;
    if (l == 0) {
      levels[l].matrix = rows;
      levels[l].partition = partition;
    } else {
      levels[l].matrix = read_rows(operators[from_coarse]);
      levels[l].partition = row_partition(operators[from_coarse]);
    }
    if (from_coarse > 0) {
      levels[l].interpolation = read_rows(interpolations[from_coarse - 1]);
      levels[l].restriction = read_rows(transposed(interpolations[from_coarse - 1]).get());
    }
  }
  for (PetscInt l = 0; l + 1 < count; ++l) {
    check(MatDestroy(&interpolations[l]), copying);
    check(MatDestroy(&operators[l]), copying);
  }
  check(PetscFree(interpolations), copying);
  check(PetscFree(operators), copying);
  return levels;
}

}  // namespace

GridHierarchy build_hierarchy(const Communicator& comm, const CsrRows& rows, const Partition& partition,
                              const HierarchyOptions& options) {
  comm.collectively([&] {
    require(options.builder == "gamg" || options.builder == "hypre",
            "preconditioner.method is gamg or hypre, not '" + options.builder + "'");
  });
  initialize(comm);
  const OwnedMat a = make_aij(comm, rows, partition);
  const int node = options.near_null_space.unknowns_per_node;
  if (node > 1) check(MatSetBlockSize(a.get(), node), building);
  // Lets GAMG skip the symmetrisation of its graph.
  check(MatSetOption(a.get(), MAT_SYMMETRIC, PETSC_TRUE), building);
  attach_near_null_space(comm, a.get(), options);
  const OwnedPc pc = set_up(comm, a.get(), options);
  return copy_levels(pc.get(), rows, partition);
}

}  // namespace block_eigs::petsc
