#pragma once

namespace block_eigs {

/// Why block CG ended.
enum class BlockCgEnd {
  solved,                     ///< every right-hand side is done
  out_of_iterations,          ///< max_iterations were spent
  stopped,                    ///< on request
  at_rounding,                ///< rounding errors keep residuals above what was asked for
  too_large,                  ///< a solution is so large that rounding errors in A x are as large as f
  singular_matrix,            ///< A is singular to working precision, a right-hand side not in its range
  indefinite_matrix,          ///< p^T A p < 0 for some p
  indefinite_preconditioner,  ///< r^T M^-1 r < 0 for some r, or M^-1 r not finite
  beyond_range                ///< numbers left the range of the arithmetic
};

/// How block CG ended and what it has seen of the operators on the way, bit-equal on all ranks. Of several blocks
/// of right-hand sides the first one that was not solved says how it ended.
struct BlockCgFindings {
  BlockCgEnd end = BlockCgEnd::solved;
  bool indefinite_matrix = false;          ///< A was seen not to be positive semi-definite
  bool singular_matrix = false;            ///< A was seen to be singular to working precision
  bool indefinite_preconditioner = false;  ///< M^-1 was seen not to be positive definite, or not finite
};

}  // namespace block_eigs
