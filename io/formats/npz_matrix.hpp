#pragma once

#include <memory>
#include <string>

#include "io/source/matrix_source.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// Sparse matrix as scipy.sparse.save_npz writes it: a zip archive with arrays `format` (csr, csc or coo),
/// `shape`, `data` and `indices`, `indptr` or `row`, `col`, compressed or stored. Rank 0 decompresses in a stream
/// and sends every rank its own part piece by piece. Collective; throws InputError on all ranks.
std::unique_ptr<MatrixSource> open_npz_matrix(const Communicator& comm, const std::string& path);

}  // namespace block_eigs
