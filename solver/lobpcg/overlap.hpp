#pragma once

namespace block_eigs {

/// Whether Ritz values `spread` apart with residuals of the size of `residual`, in units of eigenvalues, are so
/// close that these may come from columns that mix eigenvectors of neighbouring eigenvalues: there is an
/// eigenvalue within the residual of each (Krylov and Weinstein), but it need not be another one.
inline bool overlap(double spread, double residual) { return residual > 0.0 && spread <= 10.0 * residual; }

}  // namespace block_eigs
