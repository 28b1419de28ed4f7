#pragma once

#include <petscsys.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "io/petsc/plugin/panel_product.hpp"
#include "spmm/matrix/csr_matrix.hpp"

namespace block_eigs::petsc {

/// One of the two parts of an AIJ matrix on the GPU. Not collective.
class GpuMatrixPart {
 public:
  /// With `some_rows` rows without entries are left out, and products leave theirs as they are. Throws InputError
  /// where local indices do not fit 32 bits.
  GpuMatrixPart(const Context<double>& context, const BorrowedCsr<PetscInt>& csr, PetscInt columns,
                bool some_rows);

  /// The same pattern with the numbers it has now. Complete on return.
  void refresh(const BorrowedCsr<PetscInt>& csr);
  void multiply(ConstBlockView<double> x, BlockView<double> y, const ProductStep<double>& step,
                const Progress& progress = {}) {
    if (matrix_->rows() > 0) matrix_->multiply(x, y, step, progress);
  }

 private:
  std::vector<std::size_t> order_;  ///< where PETSc has the sorted entries; empty where they are sorted there
  std::unique_ptr<CsrMatrix<double>> matrix_;
};

}  // namespace block_eigs::petsc
