#include "io/petsc/mat_operators.hpp"

#include <omp.h>
#include <petscmat.h>

#include <cstdlib>
#include <vector>

#include "io/petsc/panel_product.hpp"
#include "io/petsc/petsc_check.hpp"
#include "io/petsc/petsc_matrix.hpp"

namespace block_eigs::petsc {

namespace {

constexpr const char* multiplying = "multiplying by a matrix of type blockcsr";
constexpr const char* key = "block_eigs_operators";

/// One a rank, as PETSc programs have it, unless OMP_NUM_THREADS asks for more. Cores are not counted: who shares
/// them is not known here, for a matrix may live on a part of the ranks.
int threads() { return std::getenv("OMP_NUM_THREADS") != nullptr ? omp_get_max_threads() : 1; }

/// Own and ghost part as PETSc stores them. On one rank the ghost part has no entries.
struct Parts {
  BorrowedCsr<PetscInt> own;
  BorrowedCsr<PetscInt> ghost;
  std::vector<GlobalIndex> ghost_columns;
};

BorrowedCsr<PetscInt> borrow(Mat part) {
  BorrowedCsr<PetscInt> csr;
  PetscScalar* values = nullptr;
  PetscMemType where = PETSC_MEMTYPE_HOST;
  check(MatGetLocalSize(part, &csr.rows, nullptr), multiplying);
  check(MatSeqAIJGetCSRAndMemType(part, &csr.row_offsets, &csr.columns, &values, &where), multiplying);
  csr.values = values;
  return csr;
}

bool is_parallel(Mat a) {
  PetscBool parallel = PETSC_FALSE;
  check(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(a), MATMPIAIJ, &parallel), multiplying);
  return parallel;
}

/// Changes with the sparsity pattern, on all ranks at once: PETSc's count of its changes, and which matrix holds
/// the own columns, for a new preallocation makes a new one.
struct Pattern {
  PetscObjectState state = 0;
  PetscObjectId own = 0;

  bool operator==(const Pattern&) const = default;
};

Pattern pattern_of(Mat a) {
  Pattern pattern;
  Mat own = a;
  check(MatGetNonzeroState(a, &pattern.state), multiplying);
  if (is_parallel(a)) check(MatMPIAIJGetSeqAIJ(a, &own, nullptr, nullptr), multiplying);
  check(PetscObjectGetId(reinterpret_cast<PetscObject>(own), &pattern.own), multiplying);
  return pattern;
}

class PanelOperators final : public MatOperators {
 public:
  explicit PanelOperators(Mat a)
      : pattern_(pattern_of(a)), comm_(PetscObjectComm(reinterpret_cast<PetscObject>(a))) {
    const Parts parts = borrow_parts(a);
    product_ = std::make_unique<PanelProduct<PetscInt>>(comm_, column_partition(a), parts.own, parts.ghost,
                                                        parts.ghost_columns, threads());
  }

  const Pattern& pattern() const { return pattern_; }

  /// PETSc's arrays may have moved.
  void rebind(Mat a) {
    const Parts parts = borrow_parts(a);
    product_->rebind(parts.own, parts.ghost);
  }

  void multiply(const double* x, const double* z, double* y) override { product_->multiply_vector(x, z, y); }
  void multiply(const double* b, std::int64_t b_leading, double* c, std::int64_t c_leading,
                std::int64_t columns) override {
    product_->multiply({b, b_leading}, {c, c_leading}, columns);
  }

 private:
  Parts borrow_parts(Mat a) {
    Parts parts;
    if (!is_parallel(a)) {
      parts.own = borrow(a);
      if (no_offsets_.empty()) no_offsets_.resize(static_cast<std::size_t>(parts.own.rows) + 1);
      parts.ghost = {parts.own.rows, no_offsets_.data(), nullptr, nullptr};
      return parts;
    }
    Mat own = nullptr;
    Mat ghost = nullptr;
    const PetscInt* ghost_columns = nullptr;
    check(MatMPIAIJGetSeqAIJ(a, &own, &ghost, &ghost_columns), multiplying);
    parts.own = borrow(own);
    parts.ghost = borrow(ghost);
    PetscInt count = 0;
    check(MatGetLocalSize(ghost, nullptr, &count), multiplying);
    if (!product_) parts.ghost_columns.assign(ghost_columns, ghost_columns + count);
    return parts;
  }

  Pattern pattern_;
  Communicator comm_;
  std::vector<PetscInt> no_offsets_;
  std::unique_ptr<PanelProduct<PetscInt>> product_;
};

PetscErrorCode destroy(void* operators) {
  delete static_cast<PanelOperators*>(operators);
  return {};
}

/// PETSc 3.23 gave the function that destroys what a container holds another name and another argument.
/// `Container` is PetscContainer: a template, so that the one which this PETSc lacks is not looked for.
template <class Container>
int set_destroy(Container container) {
  // Some versions call the place that holds the pointer void*, some void**.
  const auto destroy_at = [](auto* place) { return destroy(*static_cast<void**>(static_cast<void*>(place))); };
  if constexpr (requires { PetscContainerSetCtxDestroy(container, destroy_at); }) {
    return PetscContainerSetCtxDestroy(container, destroy_at);
  } else {
    return PetscContainerSetUserDestroy(container, destroy);
  }
}

/// What is kept with `a`, null where there is nothing yet.
PanelOperators* kept(Mat a) {
  PetscObject object = nullptr;
  check(PetscObjectQuery(reinterpret_cast<PetscObject>(a), key, &object), multiplying);
  if (object == nullptr) return nullptr;
  void* operators = nullptr;
  check(PetscContainerGetPointer(reinterpret_cast<PetscContainer>(object), &operators), multiplying);
  return static_cast<PanelOperators*>(operators);
}

void keep(Mat a, std::unique_ptr<PanelOperators> operators) {
  const auto object = reinterpret_cast<PetscObject>(a);
  PetscContainer container = nullptr;
  check(PetscContainerCreate(PetscObjectComm(object), &container), multiplying);
  check(PetscContainerSetPointer(container, operators.get()), multiplying);
  check(set_destroy(container), multiplying);
  static_cast<void>(operators.release());
  check(PetscObjectCompose(object, key, reinterpret_cast<PetscObject>(container)), multiplying);
  check(PetscContainerDestroy(&container), multiplying);
}

}  // namespace

MatOperators& operators_of(_p_Mat* a) {
  PanelOperators* operators = kept(a);
  if (operators != nullptr && operators->pattern() == pattern_of(a)) {
    operators->rebind(a);
    return *operators;
  }
  keep(a, std::make_unique<PanelOperators>(a));
  return *kept(a);
}

}  // namespace block_eigs::petsc
