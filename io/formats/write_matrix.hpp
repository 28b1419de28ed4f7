#pragma once

#include <string>

#include "spmm/matrix/csr_rows.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// Writes a sparse matrix as AnnData does and reads: a group `dataset` ("/A") of a new HDF5 file with `data`
/// (float64), `indices` and `indptr` (int32 where they fit, else int64) and the attributes encoding-type
/// csr_matrix, encoding-version and shape. Each rank gives and writes its own rows, which ascend with the rank. An
/// existing file is replaced, whole. Collective; throws InputError where no file can be put at `path`, RunError
/// where writing fails.
void write_matrix(const Communicator& comm, const std::string& path, const std::string& dataset,
                  const CsrRows& rows);

}  // namespace block_eigs
