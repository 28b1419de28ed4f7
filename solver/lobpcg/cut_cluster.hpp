#pragma once

#include "solver/lobpcg/lobpcg_state.hpp"

namespace block_eigs {

/// Where the last wanted pair shares its eigenvalue with guard vectors, Ritz vectors are any basis of what the
/// block holds of the eigenspace, and a wanted one that has nearly converged comes to be mixed with guards that
/// have not. After a step in which the residual of that pair has risen from `before`: turns X, and what belongs to
/// it, within the cluster so that residuals ascend: the right singular vectors of R, "refined" Ritz vectors (Jia,
/// Linear Algebra Appl. 259, 1997) of a value that all have. Ritz values are the same within a hundredth of the
/// pair's limit, or nothing is done. Nor is anything done in windows that are one of many, where residuals are
/// without what lies along locked vectors. A step that was begun ahead is taken back. Collective; throws RunError
/// on all ranks (memory).
template <class T>
void separate_from_guards(const LobpcgRun<T>& run, LobpcgState<T>& state, double before);

}  // namespace block_eigs
