#pragma once

#include "spmm/matrix/csr_rows.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs {

/// Own rows of the pseudo-inverse of a small symmetric matrix, all entries stored: eigenvalues below
/// n epsilon times the largest, or below `noise`, count as zero. Computed by LAPACK on rank 0. Collective.
CsrRows pseudo_inverse(const Communicator& comm, const Partition& partition, const CsrRows& matrix, double noise);

}  // namespace block_eigs
