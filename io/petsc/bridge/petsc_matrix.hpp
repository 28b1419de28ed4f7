#pragma once

#include <memory>

#include "io/petsc/bridge/petsc_handles.hpp"
#include "io/petsc/bridge/petsc_partition.hpp"
#include "spmm/matrix/csr_rows.hpp"
#include "spmm/matrix/distributed_matrix.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/context.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs::petsc {

struct DestroyMat {
  void operator()(_p_Mat* a) const noexcept;
};
/// A PETSc matrix of one's own.
using OwnedMat = std::unique_ptr<_p_Mat, DestroyMat>;

// Everything below is collective over the communicator of `a` and throws RunError where PETSc fails. `a` is any
// assembled real matrix: AIJ and its subclasses are read in place, other types through a copy that MatConvert
// makes.

/// The calling rank's rows, in double, sorted.
CsrRows read_rows(_p_Mat* a);

/// A matrix that a PETSc program holds, as the operator that our solvers take, on the layout that PETSc gave it.
/// `context` has the ranks of a's communicator in the same order. The values are copied: later changes of `a` do
/// not show.
template <class T>
std::unique_ptr<DistributedMatrix<T>> distributed_matrix(const Context<T>& context, _p_Mat* a,
                                                         const SpmmOptions& options = {});

/// The way back: an assembled PETSc matrix of type AIJ (seqaij on one rank, mpiaij on several) with the calling
/// rank's rows `rows`, whose columns ascend, and columns laid out by `column_partition`. PETSc must run.
/// Collective over `comm`; throws InputError where indices do not fit PETSc's width.
OwnedMat make_aij(const Communicator& comm, const CsrRows& rows, const Partition& column_partition);

}  // namespace block_eigs::petsc
