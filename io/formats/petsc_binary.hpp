#pragma once

#include <memory>
#include <string>

#include "io/source/matrix_source.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// Sparse matrix as PETSc's binary viewer writes it (MatView): big-endian class number 1211216, rows, columns,
/// nonzeros, row lengths, column numbers, values; 32-bit integers, or 64-bit from a PETSc built so; double or
/// single values. Every rank reads its own rows. The file may go on with other PETSc objects, such as a right-hand
/// side. Collective; throws InputError on all ranks.
std::unique_ptr<MatrixSource> open_petsc_binary(const Communicator& comm, const std::string& path);

/// True where a file that starts with `head` (16 bytes) is a PETSc matrix.
bool is_petsc_matrix(const std::string& head);

}  // namespace block_eigs
