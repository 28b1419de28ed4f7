#include "io/petsc/plugin/mat_operators.hpp"

#include <omp.h>
#include <petscmat.h>

#include <cstdlib>
#include <memory>

#include "io/petsc/bridge/petsc_partition.hpp"
#include "io/petsc/plugin/aij_parts.hpp"
#include "io/petsc/plugin/kept_with_mat.hpp"
#include "io/petsc/plugin/mat_options.hpp"
#include "spmm/matrix/column_major_product.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs::petsc {

namespace {

/// One a rank, as PETSc programs have it, unless OMP_NUM_THREADS asks for more. Cores are not counted: who shares
/// them is not known here, for a matrix may live on a part of the ranks.
int threads() { return std::getenv("OMP_NUM_THREADS") != nullptr ? omp_get_max_threads() : 1; }

class HostOperators final : public MatOperators {
 public:
  explicit HostOperators(Mat a) : pattern_(pattern_of(a)) {
    const Communicator comm(PetscObjectComm(reinterpret_cast<PetscObject>(a)));
    const AijParts parts = borrow_parts(a);
    product_ = make_column_major_product(comm, column_partition(a), parts.own, parts.ghost, parts.ghosts(),
                                         threads(), halo_way_of(a));
  }

  const Pattern& pattern() const { return pattern_; }

  /// PETSc's arrays may have moved.
  void rebind(Mat a) {
    const AijParts parts = borrow_parts(a);
    product_->rebind(parts.own, parts.ghost);
  }

  void multiply(const double* x, const double* z, double* y) override { product_->multiply_vector(x, z, y); }
  void multiply(const double* b, std::int64_t b_leading, double* c, std::int64_t c_leading,
                std::int64_t columns) override {
    product_->multiply({b, b_leading}, {c, c_leading}, columns);
  }

 private:
  Pattern pattern_;
  std::unique_ptr<ColumnMajorProduct<PetscInt>> product_;
};

}  // namespace

MatOperators& operators_of(_p_Mat* a) {
  auto* const operators = kept_with<HostOperators>(a, host_operators_key);
  if (operators != nullptr && operators->pattern() == pattern_of(a)) {
    operators->rebind(a);
    return *operators;
  }
  return keep_with(a, host_operators_key, std::make_unique<HostOperators>(a));
}

}  // namespace block_eigs::petsc
