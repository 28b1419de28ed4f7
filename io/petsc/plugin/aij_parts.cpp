#include "io/petsc/plugin/aij_parts.hpp"

#include <petsc/private/petscimpl.h>

#include "io/petsc/bridge/petsc_check.hpp"

namespace block_eigs::petsc {

namespace {

constexpr const char* looking = "looking into an AIJ matrix";

BorrowedCsr<PetscInt> borrow(Mat part) {
  BorrowedCsr<PetscInt> csr;
  PetscScalar* values = nullptr;
  PetscMemType where = PETSC_MEMTYPE_HOST;
  check(MatGetLocalSize(part, &csr.rows, nullptr), looking);
  check(MatSeqAIJGetCSRAndMemType(part, &csr.row_offsets, &csr.columns, &values, &where), looking);
  csr.values = values;
  return csr;
}

bool is_parallel(Mat a) {
  PetscBool parallel = PETSC_FALSE;
  check(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(a), MATMPIAIJ, &parallel), looking);
  return parallel;
}

PetscObjectState state_of(Mat a) {
  PetscObjectState state = 0;
  check(PetscObjectStateGet(reinterpret_cast<PetscObject>(a), &state), looking);
  return state;
}

}  // namespace

AijParts borrow_parts(Mat a) {
  AijParts parts;
  check(MatGetLocalSize(a, nullptr, &parts.own_columns), looking);
  if (!is_parallel(a)) {
    parts.own = borrow(a);
    return parts;
  }
  Mat own = nullptr;
  Mat ghost = nullptr;
  const PetscInt* ghost_columns = nullptr;
  check(MatMPIAIJGetSeqAIJ(a, &own, &ghost, &ghost_columns), looking);
  parts.own = borrow(own);
  parts.ghost = borrow(ghost);
  PetscInt count = 0;
  check(MatGetLocalSize(ghost, nullptr, &count), looking);
  parts.ghost_columns = {ghost_columns, static_cast<std::size_t>(count)};
  return parts;
}

Pattern pattern_of(Mat a) {
  Pattern pattern;
  Mat own = a;
  check(MatGetNonzeroState(a, &pattern.state), looking);
  if (is_parallel(a)) check(MatMPIAIJGetSeqAIJ(a, &own, nullptr, nullptr), looking);
  check(PetscObjectGetId(reinterpret_cast<PetscObject>(own), &pattern.own), looking);
  return pattern;
}

ValueState values_of(Mat a) {
  ValueState values{state_of(a), 0, 0};
  if (!is_parallel(a)) return values;
  Mat own = nullptr;
  Mat ghost = nullptr;
  check(MatMPIAIJGetSeqAIJ(a, &own, &ghost, nullptr), looking);
  values.own = state_of(own);
  values.ghost = state_of(ghost);
  return values;
}

}  // namespace block_eigs::petsc
