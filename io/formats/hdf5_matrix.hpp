#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/hdf5/hdf5_file.hpp"
#include "io/source/matrix_source.hpp"
#include "spmm/matrix/csr_rows.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs {

/// Sparse matrix in a group of an HDF5 file, in one of the layouts that people have:
/// - AnnData and its like: `data`, `indices`, `indptr`; shape as attribute or dataset `shape` (or
/// `h5sparse_shape`); by rows
///   or columns as the attribute `encoding-type` (csr_matrix, csc_matrix), `h5sparse_format` or `format` says.
///   Where nothing says it, the length of `indptr` decides for a rectangular matrix; a square one must turn out
///   symmetric.
/// - MATLAB v7.3: `data`, `ir`, `jc` and the attribute `MATLAB_sparse` (number of rows), by columns.
/// An empty `group` stands for the only sparse group of the file. Collective; throws InputError on all ranks.
std::unique_ptr<MatrixSource> open_hdf5_matrix(const Communicator& comm, const std::string& path,
                                               const std::string& group);

/// The groups of the file that look like sparse matrices. Not collective.
std::vector<std::string> sparse_groups(const Hdf5File& file);

}  // namespace block_eigs
