#include "io/petsc/plugin/mat_vector_product.hpp"

#include <petscmat.h>

#include "io/petsc/bridge/petsc_check.hpp"
#include "io/petsc/plugin/gpu_product.hpp"
#include "io/petsc/plugin/mat_operators.hpp"

namespace block_eigs::petsc {

namespace {

int product(Mat a, const double* x, const double* z, double* y) {
  return guarded(a, [&] { operators_of(a).multiply(x, z, y); });
}

}  // namespace

int multiply_vector(_p_Mat* a, _p_Vec* x, _p_Vec* y) {
  const PetscScalar* in = nullptr;
  PetscScalar* out = nullptr;
  bool gpu = false;
  PetscFunctionBegin;
  PetscCall(guarded(a, [&] { gpu = on_gpu({x, y}); }));
  if (gpu) PetscFunctionReturn(static_cast<PetscErrorCode>(multiply_vector_on_gpu(a, x, nullptr, y)));
  PetscCall(VecGetArrayRead(x, &in));
  PetscCall(VecGetArrayWrite(y, &out));
  PetscCall(product(a, in, nullptr, out));
  PetscCall(VecRestoreArrayWrite(y, &out));
  PetscCall(VecRestoreArrayRead(x, &in));
  PetscFunctionReturn(PetscErrorCode{});
}

int multiply_vector_add(_p_Mat* a, _p_Vec* x, _p_Vec* z, _p_Vec* y) {
  const PetscScalar* in = nullptr;
  const PetscScalar* addend = nullptr;
  PetscScalar* out = nullptr;
  bool gpu = false;
  PetscFunctionBegin;
  PetscCall(guarded(a, [&] { gpu = on_gpu({x, z, y}); }));
  if (gpu) PetscFunctionReturn(static_cast<PetscErrorCode>(multiply_vector_on_gpu(a, x, z, y)));
  PetscCall(VecGetArrayRead(x, &in));
  if (z == y) {
    PetscCall(VecGetArray(y, &out));
    PetscCall(product(a, in, out, out));
    PetscCall(VecRestoreArray(y, &out));
  } else {
    PetscCall(VecGetArrayRead(z, &addend));
    PetscCall(VecGetArrayWrite(y, &out));
    PetscCall(product(a, in, addend, out));
    PetscCall(VecRestoreArrayWrite(y, &out));
    PetscCall(VecRestoreArrayRead(z, &addend));
  }
  PetscCall(VecRestoreArrayRead(x, &in));
  PetscFunctionReturn(PetscErrorCode{});
}

}  // namespace block_eigs::petsc
