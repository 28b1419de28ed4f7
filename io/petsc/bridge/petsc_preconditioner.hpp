#pragma once

#include <memory>
#include <string>

#include "spmm/matrix/csr_rows.hpp"
#include "spmm/matrix/linear_operator.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/context.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs::petsc {

/// Any of PETSc's preconditioners for the symmetric matrix with the calling rank's rows `rows`, chosen by
/// `options`: "-pc_type bjacobi -sub_pc_type icc". It works on the host in double; blocks are handed to it as
/// dense matrices, so that those that can take all columns at once do, and from a GPU they travel there and back.
/// Collective. Throws InputError on options that PETSc does not know or does not use, where the set-up breaks down
/// on this matrix (zero pivot) or gives values that are not finite, and where this build has no PETSc. Its apply
/// throws RunError where PETSc fails.
template <class T>
std::unique_ptr<LinearOperator<T>> make_preconditioner(const Context<T>& context, const CsrRows& rows,
                                                       const Partition& partition, const std::string& options);

}  // namespace block_eigs::petsc
