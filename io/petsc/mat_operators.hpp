#pragma once

#include <cstdint>
#include <memory>

#include "io/petsc/petsc_handles.hpp"

namespace block_eigs::petsc {

/// How a Mat of type blockcsr multiplies: what is set up once a sparsity pattern, kept with the Mat and gone with
/// it. The numbers stay in PETSc's own arrays, so that whatever changes them is seen by the next product.
class MatOperators {
 public:
  MatOperators() = default;
  MatOperators(const MatOperators&) = delete;
  MatOperators& operator=(const MatOperators&) = delete;
  virtual ~MatOperators() = default;

  /// y = A x, or y = z + A x where z is given (z may be y). Host arrays of the calling rank's entries. Collective.
  virtual void multiply(const double* x, const double* z, double* y) = 0;
  /// C = A B, column-major with leading dimensions, `columns` of them. Host arrays. Collective.
  virtual void multiply(const double* b, std::int64_t b_leading, double* c, std::int64_t c_leading,
                        std::int64_t columns) = 0;
};

/// The one that is kept with `a`, an assembled AIJ matrix; made by the first call and after a change of the
/// pattern. Collective. Throws RunError.
MatOperators& operators_of(_p_Mat* a);

}  // namespace block_eigs::petsc
