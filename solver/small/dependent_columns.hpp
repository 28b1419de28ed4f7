#pragma once

#include <vector>

#include "spmm/small_matrix.hpp"

namespace block_eigs {

/// Which columns of V, meant to be orthogonal, lie partly in the span of those before them: a tenth of their
/// length or more, by V^T B V. One pair may have been found twice in a basis that has lost its orthogonality.
std::vector<bool> dependent_columns(const SmallMatrix& gram);

}  // namespace block_eigs
