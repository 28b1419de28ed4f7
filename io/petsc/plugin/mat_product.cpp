#include "io/petsc/plugin/mat_product.hpp"

#include <petsc/private/matimpl.h>

#include <algorithm>
#include <string>

#include "io/petsc/bridge/petsc_check.hpp"
#include "io/petsc/plugin/gpu_product.hpp"
#include "io/petsc/plugin/mat_operators.hpp"

namespace block_eigs::petsc {

namespace {

PetscErrorCode multiply_on_host(Mat a, Mat b, Mat c) {
  PetscInt b_leading = 0;
  PetscInt c_leading = 0;
  PetscInt columns = 0;
  const PetscScalar* in = nullptr;
  PetscScalar* out = nullptr;
  PetscFunctionBegin;
  PetscCall(MatGetSize(b, nullptr, &columns));
  PetscCall(MatDenseGetLDA(b, &b_leading));
  PetscCall(MatDenseGetLDA(c, &c_leading));
  PetscCall(MatDenseGetArrayRead(b, &in));
  PetscCall(MatDenseGetArrayWrite(c, &out));
  PetscCall(guarded(a, [&] { operators_of(a).multiply(in, b_leading, out, c_leading, columns); }));
  PetscCall(MatDenseRestoreArrayWrite(c, &out));
  PetscCall(MatDenseRestoreArrayRead(b, &in));
  PetscFunctionReturn(PetscErrorCode{});
}

/// C = A B with the set-up that is kept with A.
PetscErrorCode multiply_numeric(Mat c) {
  Mat a = nullptr;
  Mat b = nullptr;
  bool gpu = false;
  PetscFunctionBegin;
  PetscCall(MatProductGetMats(c, &a, &b, nullptr));
  PetscCall(guarded(a, [&] { gpu = on_gpu({b, c}); }));
  if (gpu) {
    PetscCall(multiply_block_on_gpu(a, b, c));
  } else {
    PetscCall(multiply_on_host(a, b, c));
  }
  PetscFunctionReturn(PetscErrorCode{});
}

PetscErrorCode set_up(Mat a, Mat b, Mat c) {
  bool gpu = false;
  PetscFunctionBegin;
  PetscCall(guarded(a, [&] { gpu = on_gpu({b, c}); }));
  if (gpu) {
    PetscCall(set_up_on_gpu(a));
  } else {
    PetscCall(guarded(a, [&] { static_cast<void>(operators_of(a)); }));
  }
  PetscFunctionReturn(PetscErrorCode{});
}

/// Every rank decides alike: all hold the ranges of all.
PetscErrorCode same_layout(Mat a, const PetscInt* first, const PetscInt* second, PetscBool* same) {
  PetscMPIInt ranks = 1;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm(reinterpret_cast<PetscObject>(a)), &ranks));
  *same = std::equal(first, first + ranks + 1, second) ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PetscErrorCode{});
}

/// The rows of B must lie where the columns of A do.
PetscErrorCode check_factors(Mat a, Mat b) {
  const PetscInt* columns = nullptr;
  const PetscInt* rows = nullptr;
  PetscBool same = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRangesColumn(a, &columns));
  PetscCall(MatGetOwnershipRanges(b, &rows));
  PetscCall(same_layout(a, columns, rows, &same));
  PetscCheck(same, PetscObjectComm(reinterpret_cast<PetscObject>(a)), PETSC_ERR_ARG_SIZ,
             "The rows of the dense matrix are dealt to ranks differently from the columns of the sparse one");
  PetscFunctionReturn(PetscErrorCode{});
}

/// A result that the caller has made must have A's rows and B's number of columns.
PetscErrorCode check_result(Mat c, Mat a, Mat b) {
  const PetscInt* expected = nullptr;
  const PetscInt* found = nullptr;
  PetscInt width = 0;
  PetscInt c_width = 0;
  PetscBool same = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRanges(a, &expected));
  PetscCall(MatGetOwnershipRanges(c, &found));
  PetscCall(same_layout(a, expected, found, &same));
  PetscCheck(same, PetscObjectComm(reinterpret_cast<PetscObject>(a)), PETSC_ERR_ARG_SIZ,
             "The rows of the result are dealt to ranks differently from those of the sparse matrix");
  PetscCall(MatGetSize(b, nullptr, &width));
  PetscCall(MatGetSize(c, nullptr, &c_width));
  PetscCheck(width == c_width, PetscObjectComm(reinterpret_cast<PetscObject>(a)), PETSC_ERR_ARG_SIZ,
             "The result has %" PetscInt_FMT " columns, the dense factor %" PetscInt_FMT, c_width, width);
  PetscFunctionReturn(PetscErrorCode{});
}

/// Makes C a dense matrix of B's type and A's rows.
PetscErrorCode multiply_symbolic(Mat c) {
  Mat a = nullptr;
  Mat b = nullptr;
  PetscInt rows = 0;
  PetscInt columns = 0;
  PetscInt global_rows = 0;
  PetscInt global_columns = 0;
  PetscBool is_dense = PETSC_FALSE;
  MatType type = nullptr;
  const auto object = reinterpret_cast<PetscObject>(c);
  PetscFunctionBegin;
  PetscCall(MatProductGetMats(c, &a, &b, nullptr));
  PetscCall(PetscObjectBaseTypeCompareAny(object, &is_dense, MATSEQDENSE, MATMPIDENSE, ""));
  PetscCall(MatGetType(b, &type));
  if (!is_dense) PetscCall(MatSetType(c, type));
  PetscCall(MatGetLocalSize(a, &rows, nullptr));
  PetscCall(MatGetSize(a, &global_rows, nullptr));
  PetscCall(MatGetLocalSize(b, nullptr, &columns));
  PetscCall(MatGetSize(b, nullptr, &global_columns));
  if (!c->preallocated) PetscCall(MatSetSizes(c, rows, columns, global_rows, global_columns));
  PetscCall(MatSetUp(c));
  PetscCall(check_result(c, a, b));
  PetscCall(MatSetOption(c, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  PetscCall(MatAssemblyBegin(c, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(c, MAT_FINAL_ASSEMBLY));
  PetscCall(set_up(a, b, c));
  c->ops->productnumeric = multiply_numeric;
  PetscFunctionReturn(PetscErrorCode{});
}

/// The name of the parent type in place of ours, others as they are.
PetscErrorCode parents_name(Mat a, std::string* name) {
  MatType type = nullptr;
  PetscFunctionBegin;
  PetscCall(MatGetType(a, &type));
  *name = type;
  if (*name == "seqaijblockcsr") *name = MATSEQAIJ;
  if (*name == "mpiaijblockcsr") *name = MATMPIAIJ;
  PetscFunctionReturn(PetscErrorCode{});
}

/// What PETSc would have asked for matrices of the parent type.
PetscErrorCode set_parents_product(Mat c, Mat a, Mat b) {
  std::string left;
  std::string right;
  PetscErrorCode (*function)(Mat) = nullptr;
  PetscFunctionBegin;
  PetscCall(parents_name(a, &left));
  PetscCall(parents_name(b, &right));
  const std::string name = "MatProductSetFromOptions_" + left + "_" + right + "_C";
  for (Mat owner : {a, b}) {
    if (function == nullptr) {
      PetscCall(PetscObjectQueryFunction(reinterpret_cast<PetscObject>(owner), name.c_str(), &function));
    }
  }
  if (function != nullptr) PetscCall(function(c));
  PetscFunctionReturn(PetscErrorCode{});
}

}  // namespace

int set_dense_product(_p_Mat* c) {
  Mat a = nullptr;
  Mat b = nullptr;
  MatProductType type = MATPRODUCT_UNSPECIFIED;
  PetscBool ours = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(MatProductGetMats(c, &a, &b, nullptr));
  PetscCall(MatProductGetType(c, &type));
  PetscCall(
      PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(a), &ours, "seqaijblockcsr", "mpiaijblockcsr", ""));
  if (!ours || type != MATPRODUCT_AB) {
    PetscCall(set_parents_product(c, a, b));
    PetscFunctionReturn(PetscErrorCode{});
  }
  PetscCall(check_factors(a, b));
  c->ops->productsymbolic = multiply_symbolic;
  PetscFunctionReturn(PetscErrorCode{});
}

}  // namespace block_eigs::petsc
