#pragma once

#include <memory>
#include <string>

#include "io/source/block_source.hpp"
#include "io/source/matrix_source.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// Sparse matrix in a Matrix Market coordinate file, plain or compressed by gzip: real, integer or pattern;
/// general, symmetric or skew-symmetric (of which one triangle is stored). Parsed by all ranks at once.
/// Collective; throws InputError on all ranks.
std::unique_ptr<MatrixSource> open_matrix_market(const Communicator& comm, const std::string& path);

/// Dense vectors in a Matrix Market array file, plain or compressed. As above.
std::unique_ptr<BlockSource> open_matrix_market_array(const Communicator& comm, const std::string& path);

}  // namespace block_eigs
