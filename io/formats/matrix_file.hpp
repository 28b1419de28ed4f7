#pragma once

#include <memory>
#include <string>

#include "io/source/matrix_source.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

enum class FileFormat { hdf5, npz, matrix_market, petsc_binary };

/// What the file is, told by its first bytes, whatever its name ends in. Throws InputError for files that are
/// something else, and says what they look like. Not collective.
FileFormat matrix_file_format(const std::string& path);

/// Opens a sparse matrix: HDF5 in the AnnData or MATLAB v7.3 layout, SciPy .npz, Matrix Market (.mtx, .mtx.gz),
/// PETSc binary. `dataset` names the group of an HDF5 file, empty for the only sparse one, and must be empty for
/// others. Collective; throws InputError on all ranks.
std::unique_ptr<MatrixSource> open_matrix_file(const Communicator& comm, const std::string& path,
                                               const std::string& dataset = {});

}  // namespace block_eigs
