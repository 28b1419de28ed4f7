#pragma once

#include <petscmat.h>

#include <span>
#include <vector>

#include "spmm/matrix/column_major_product.hpp"
#include "spmm/types.hpp"

namespace block_eigs::petsc {

/// The calling rank's rows of an assembled AIJ matrix as PETSc stores them: columns that this rank owns, and the
/// others, numbered by their places in `ghost_columns` (global, ascending). On one rank the ghost part has no rows
/// and no entries. Borrowed from the matrix.
struct AijParts {
  BorrowedCsr<PetscInt> own;
  BorrowedCsr<PetscInt> ghost;
  PetscInt own_columns = 0;
  std::span<const PetscInt> ghost_columns;

  std::vector<GlobalIndex> ghosts() const { return {ghost_columns.begin(), ghost_columns.end()}; }
};

/// Not collective. Throws RunError.
AijParts borrow_parts(Mat a);

/// Changes with the sparsity pattern, on all ranks at once: PETSc's count of its changes, and which matrix holds
/// the own columns, for a new preallocation makes a new one.
struct Pattern {
  PetscObjectState state = 0;
  PetscObjectId own = 0;

  bool operator==(const Pattern&) const = default;
};
Pattern pattern_of(Mat a);

/// Changes whenever numbers of the calling rank's rows may have: PETSc's counts of changes of the matrix and of
/// the two that hold its parts, which can be changed apart from it.
struct ValueState {
  PetscObjectState whole = 0;
  PetscObjectState own = 0;
  PetscObjectState ghost = 0;

  bool operator==(const ValueState&) const = default;
};
ValueState values_of(Mat a);

}  // namespace block_eigs::petsc
