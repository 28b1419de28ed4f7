#pragma once

#include "spmm/matrix/csr_rows.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs {

/// Own rows of the pseudo-inverse of a small symmetric matrix, all entries stored: eigenvalues below
/// n epsilon of double times the largest, or below `noise`, count as zero, those below 10 `epsilon` times the
/// largest as that: `epsilon` is of the arithmetic in which it will be applied, where it has to stay positive
/// definite. Without noise a positive diagonal is scaled to about one before. Computed by LAPACK on rank 0.
/// Collective.
CsrRows pseudo_inverse(const Communicator& comm, const Partition& partition, const CsrRows& matrix, double noise,
                       double epsilon);

}  // namespace block_eigs
