#include "io/petsc/plugin/gpu_product.hpp"

#include <petscmat.h>

#include "io/petsc/bridge/petsc_check.hpp"
#include "io/petsc/plugin/gpu_operators.hpp"

namespace block_eigs::petsc {

namespace {

bool has_type(void* object, const char* first, const char* second) {
  PetscBool is = PETSC_FALSE;
  check(PetscObjectTypeCompareAny(static_cast<PetscObject>(object), &is, first, second, ""), "asking for a type");
  return is;
}

/// With -log_view_gpu_time PETSc counts the time on the GPU.
template <class Product>
int timed(Mat a, const Product& product) {
  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeBegin());
  const int code = guarded(a, [&] { product(gpu_operators_of(a)); });
  PetscCall(PetscLogGpuTimeEnd());
  PetscFunctionReturn(static_cast<PetscErrorCode>(code));
}

int product(Mat a, const double* x, const double* z, double* y) {
  return timed(a, [&](MatOperators& operators) { operators.multiply(x, z, y); });
}

}  // namespace

bool on_gpu(std::initializer_list<_p_Vec*> vectors) {
  for (_p_Vec* x : vectors) {
    if (x != nullptr && !has_type(x, VECSEQCUDA, VECMPICUDA)) return false;
  }
  return true;
}

bool on_gpu(std::initializer_list<_p_Mat*> blocks) {
  for (_p_Mat* b : blocks) {
    if (b != nullptr && !has_type(b, MATSEQDENSECUDA, MATMPIDENSECUDA)) return false;
  }
  return true;
}

int set_up_on_gpu(_p_Mat* a) {
  return guarded(a, [&] { static_cast<void>(gpu_operators_of(a)); });
}

// A vector of a CUDA type may be bound to the host, on some ranks alone where -vec_bind_below says so. What PETSc
// calls VecCUDAGetArray gives its place on the GPU all the same, with its latest numbers, so that all ranks stay
// together.
int multiply_vector_on_gpu(_p_Mat* a, _p_Vec* x, _p_Vec* z, _p_Vec* y) {
  const PetscScalar* in = nullptr;
  const PetscScalar* addend = nullptr;
  PetscScalar* out = nullptr;
  PetscFunctionBegin;
  PetscCall(VecCUDAGetArrayRead(x, &in));
  if (z != nullptr && z == y) {
    PetscCall(VecCUDAGetArray(y, &out));
    PetscCall(product(a, in, out, out));
    PetscCall(VecCUDARestoreArray(y, &out));
  } else {
    if (z != nullptr) PetscCall(VecCUDAGetArrayRead(z, &addend));
    PetscCall(VecCUDAGetArrayWrite(y, &out));
    PetscCall(product(a, in, addend, out));
    PetscCall(VecCUDARestoreArrayWrite(y, &out));
    if (z != nullptr) PetscCall(VecCUDARestoreArrayRead(z, &addend));
  }
  PetscCall(VecCUDARestoreArrayRead(x, &in));
  PetscFunctionReturn(PetscErrorCode{});
}

int multiply_block_on_gpu(_p_Mat* a, _p_Mat* b, _p_Mat* c) {
  const PetscScalar* in = nullptr;
  PetscScalar* out = nullptr;
  PetscMemType where_b = PETSC_MEMTYPE_HOST;
  PetscMemType where_c = PETSC_MEMTYPE_HOST;
  PetscInt b_leading = 0;
  PetscInt c_leading = 0;
  PetscInt columns = 0;
  PetscFunctionBegin;
  PetscCall(MatGetSize(b, nullptr, &columns));
  PetscCall(MatDenseGetLDA(b, &b_leading));
  PetscCall(MatDenseGetLDA(c, &c_leading));
  PetscCall(MatDenseGetArrayReadAndMemType(b, &in, &where_b));
  PetscCall(MatDenseGetArrayWriteAndMemType(c, &out, &where_c));
  PetscCheck(PetscMemTypeDevice(where_b) && PetscMemTypeDevice(where_c),
             PetscObjectComm(reinterpret_cast<PetscObject>(a)), PETSC_ERR_PLIB,
             "A dense matrix of a CUDA type gave an array in host memory");
  PetscCall(
      timed(a, [&](MatOperators& operators) { operators.multiply(in, b_leading, out, c_leading, columns); }));
  PetscCall(MatDenseRestoreArrayWriteAndMemType(c, &out));
  PetscCall(MatDenseRestoreArrayReadAndMemType(b, &in));
  PetscFunctionReturn(PetscErrorCode{});
}

}  // namespace block_eigs::petsc
