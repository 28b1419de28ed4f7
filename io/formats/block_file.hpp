#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/source/block_source.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// Opens a set of dense vectors (start vectors, constraints, right-hand sides):
/// - HDF5: `datasets` names one or more datasets, whose columns stand side by side: [n, m] row-major as h5py
/// writes it, or
///   [n], one vector. A dataset that MATLAB wrote (attribute MATLAB_class) lies transposed and is read as MATLAB
///   shows it. None named stands for the only numeric dataset of one or two dimensions in the file.
/// - Matrix Market array files, plain or compressed by gzip; nothing may be named.
/// Collective; throws InputError on all ranks.
std::unique_ptr<BlockSource> open_block_file(const Communicator& comm, const std::string& path,
                                             const std::vector<std::string>& datasets = {});

}  // namespace block_eigs
