#pragma once

#include <memory>
#include <string>

#include "spmm/matrix/csr_rows.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs::bench {

/// A sparse matrix of some PETSc type and the two factors of a product with it: dense ones, or vectors.
class PetscProduct {
 public:
  virtual ~PetscProduct() = default;

  /// C = A B into the C of the first call (MAT_REUSE_MATRIX), or y = A x. Collective. On a GPU it may return
  /// before it is done.
  virtual void multiply() = 0;
  /// Waits for the products so far.
  virtual void finish() = 0;
  /// max_ij |c_ij| of this product less that of `other`, over that of this one; spoils C. Collective.
  virtual double difference(PetscProduct& other) = 0;
  /// The full name of the type: mpiaij, mpiaijblockcsr, mpiaijcusparse.
  virtual std::string type() const = 0;
};

/// A from the calling rank's rows on a square `partition`, of PETSc's `type`, "aij", "aijcusparse" or "blockcsr";
/// B of `columns` columns, random but the same for every type; `columns` 0 takes vectors. `on_gpu`: factors and
/// results are of PETSc's CUDA types. The first product, with what is set up once, has been made. Starts PETSc.
/// Collective; throws RunError.
std::unique_ptr<PetscProduct> petsc_product(const Communicator& comm, const CsrRows& rows,
                                            const Partition& partition, const std::string& type, int columns,
                                            bool on_gpu);

/// Ends PETSc; after the last product, before MPI_Finalize.
void end_petsc_products();

}  // namespace block_eigs::bench
