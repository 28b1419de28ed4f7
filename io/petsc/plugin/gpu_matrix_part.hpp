#pragma once

#include <petscsys.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "spmm/matrix/column_major_product.hpp"
#include "spmm/matrix/csr_matrix.hpp"

namespace block_eigs::petsc {

/// One of the two parts of an AIJ matrix on its way to the GPU, which takes columns in ascending order. PETSc lets
/// a program hand over rows in any order of columns. Not collective.
class GpuMatrixPart {
 public:
  GpuMatrixPart() = default;
  explicit GpuMatrixPart(const BorrowedCsr<PetscInt>& csr);

  /// The arrays of `csr`, from which this was made. With `some_rows` rows without entries are left out, and
  /// products leave theirs as they are. Throws InputError where local indices do not fit 32 bits.
  CsrArrays<double> arrays(const BorrowedCsr<PetscInt>& csr, PetscInt columns, bool some_rows) const;
  /// Hands the numbers that `csr`, of the same pattern, has now to `set_values`. They live as long as the call.
  void refresh(const BorrowedCsr<PetscInt>& csr, const std::function<void(const double*)>& set_values) const;

 private:
  std::vector<std::size_t> order_;  ///< where PETSc has the sorted entries; empty where they are sorted there
};

}  // namespace block_eigs::petsc
