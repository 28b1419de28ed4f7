#include "io/petsc/bridge/petsc_matrix.hpp"

#include <petsc/private/petscimpl.h>
#include <petscmat.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "io/petsc/bridge/petsc_check.hpp"
#include "spmm/error.hpp"

namespace block_eigs::petsc {

namespace {

constexpr const char* reading = "reading a PETSc matrix";
constexpr const char* making = "making a PETSc matrix";

bool is_aij(Mat a) {
  PetscBool sequential = PETSC_FALSE;
  PetscBool parallel = PETSC_FALSE;
  const auto object = reinterpret_cast<PetscObject>(a);
  check(PetscObjectBaseTypeCompare(object, MATSEQAIJ, &sequential), reading);
  check(PetscObjectBaseTypeCompare(object, MATMPIAIJ, &parallel), reading);
  return sequential || parallel;
}

OwnedMat aij_copy(Mat a) {
  // Of some kinds (MPIBAIJ) a copy counts as a change of the original, which SLEPc then refuses to go on with.
  const auto object = reinterpret_cast<PetscObject>(a);
  PetscObjectState state = 0;
  check(PetscObjectStateGet(object, &state), reading);
  Mat copy = nullptr;
  check(MatConvert(a, MATAIJ, MAT_INITIAL_MATRIX, &copy), reading);
  OwnedMat owned(copy);
  check(PetscObjectStateSet(object, state), reading);
  return owned;
}

/// Not collective.
CsrRows read_aij_rows(Mat a) {
  CsrRows rows;
  PetscInt begin = 0;
  PetscInt end = 0;
  PetscInt global_rows = 0;
  PetscInt global_columns = 0;
  check(MatGetSize(a, &global_rows, &global_columns), reading);
  check(MatGetOwnershipRange(a, &begin, &end), reading);
  rows.row_begin = begin;
  rows.global_rows = global_rows;
  rows.global_columns = global_columns;
  MatInfo info{};
  check(MatGetInfo(a, MAT_LOCAL, &info), reading);
  rows.row_offsets.reserve(static_cast<std::size_t>(end - begin) + 1);
  rows.columns.reserve(static_cast<std::size_t>(info.nz_used));
  rows.values.reserve(static_cast<std::size_t>(info.nz_used));
  for (PetscInt i = begin; i < end; ++i) {
    PetscInt count = 0;
    const PetscInt* columns = nullptr;
    const PetscScalar* values = nullptr;
    check(MatGetRow(a, i, &count, &columns, &values), reading);
    rows.columns.insert(rows.columns.end(), columns, columns + count);
    rows.values.insert(rows.values.end(), values, values + count);
    rows.row_offsets.push_back(static_cast<Offset>(rows.values.size()));
    check(MatRestoreRow(a, i, &count, &columns, &values), reading);
  }
  sort_rows(rows);
  return rows;
}

/// `value` as PetscInt; throws where that is too narrow.
PetscInt narrowed(std::int64_t value) {
  if (value > std::int64_t{std::numeric_limits<PetscInt>::max()}) {
    throw InputError("this PETSc has " + std::to_string(8 * sizeof(PetscInt)) + "-bit indices: " +
                     std::to_string(value) + " rows, columns or nonzeros of one rank do not fit");
  }
  return static_cast<PetscInt>(value);
}

}  // namespace

void DestroyMat::operator()(_p_Mat* a) const noexcept { static_cast<void>(MatDestroy(&a)); }

CsrRows read_rows(_p_Mat* a) {
  const OwnedMat copy = is_aij(a) ? nullptr : aij_copy(a);
  return read_aij_rows(copy ? copy.get() : a);
}

template <class T>
std::unique_ptr<DistributedMatrix<T>> distributed_matrix(const Context<T>& context, _p_Mat* a,
                                                         const SpmmOptions& options) {
  CsrRows rows;
  const OwnedMat copy = is_aij(a) ? nullptr : aij_copy(a);
  context.comm.collectively([&] { rows = read_aij_rows(copy ? copy.get() : a); });
  return std::make_unique<DistributedMatrix<T>>(context, std::move(rows), row_partition(a), column_partition(a),
                                                options);
}

template std::unique_ptr<DistributedMatrix<float>> distributed_matrix(const Context<float>&, _p_Mat*,
                                                                      const SpmmOptions&);
template std::unique_ptr<DistributedMatrix<double>> distributed_matrix(const Context<double>&, _p_Mat*,
                                                                       const SpmmOptions&);

OwnedMat make_aij(const Communicator& comm, const CsrRows& rows, const Partition& column_partition) {
  std::vector<PetscInt> offsets;
  std::vector<PetscInt> columns;
  comm.collectively([&] {
    narrowed(std::max({rows.global_rows, rows.global_columns, rows.nonzeros()}));
    offsets.assign(rows.row_offsets.begin(), rows.row_offsets.end());
    columns.assign(rows.columns.begin(), rows.columns.end());
  });
  Mat a = nullptr;
  check(MatCreate(comm.handle(), &a), making);
  OwnedMat owned(a);
  check(MatSetSizes(a, rows.rows(), column_partition.size(comm.rank()), narrowed(rows.global_rows),
                    narrowed(rows.global_columns)),
        making);
  check(MatSetType(a, MATAIJ), making);
  // Each ignores matrices that are not of its kind.
  check(MatSeqAIJSetPreallocationCSR(a, offsets.data(), columns.data(), rows.values.data()), making);
  check(MatMPIAIJSetPreallocationCSR(a, offsets.data(), columns.data(), rows.values.data()), making);
  return owned;
}

}  // namespace block_eigs::petsc
