#pragma once

#include <string>
#include <vector>

#include "io/hdf5/hdf5_file.hpp"
#include "spmm/types.hpp"

namespace block_eigs {

/// Whether a compressed matrix runs by rows (CSR) or by columns (CSC); `unsaid` where the file does not say.
enum class Orientation { rows, columns, unsaid };

/// Where the arrays of a sparse group are and what they mean. `indices` and `values` are empty names where the
/// matrix has no nonzeros and the file leaves them out.
struct SparseLayout {
  GlobalIndex rows = 0;
  GlobalIndex columns = 0;
  Orientation orientation = Orientation::unsaid;
  std::string pointers;
  std::string indices;
  std::string values;
};

/// True for a group that holds a sparse matrix in the AnnData or the MATLAB layout, complete or not.
bool is_sparse_group(const Hdf5File& file, const std::string& group);

/// The layout of `group`. Throws InputError that names file and group where it is no sparse group, or one that
/// lacks something. Not collective.
SparseLayout sparse_layout(const Hdf5File& file, const std::string& group);

}  // namespace block_eigs
