#pragma once

#include <cstdint>

#include "io/petsc/bridge/petsc_handles.hpp"
#include "spmm/device/device.hpp"

namespace block_eigs::petsc {

/// How a Mat of type blockcsr multiplies: what is set up once a sparsity pattern, kept with the Mat and gone with
/// it. Whatever changes the numbers of the Mat is seen by the next product.
class MatOperators {
 public:
  MatOperators() = default;
  MatOperators(const MatOperators&) = delete;
  MatOperators& operator=(const MatOperators&) = delete;
  virtual ~MatOperators() = default;

  /// y = A x, or y = z + A x where z is given (z may be y). Arrays of the calling rank's entries. Collective.
  virtual void multiply(const double* x, const double* z, double* y) = 0;
  /// C = A B, column-major with leading dimensions, `columns` of them. Collective.
  virtual void multiply(const double* b, std::int64_t b_leading, double* c, std::int64_t c_leading,
                        std::int64_t columns) = 0;
  /// Bytes that went between host and device memory since the start. Not collective.
  virtual TransferCount transferred() const { return {}; }
};

/// Names under which they are kept.
inline constexpr const char* host_operators_key = "block_eigs_operators";
inline constexpr const char* gpu_operators_key = "block_eigs_gpu_operators";

/// The one for arrays in host memory that is kept with `a`, an assembled AIJ matrix; made by the first call and
/// after a change of the pattern. It reads PETSc's own arrays. Collective. Throws RunError.
MatOperators& operators_of(_p_Mat* a);

}  // namespace block_eigs::petsc
