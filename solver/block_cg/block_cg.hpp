#pragma once

#include <string>
#include <vector>

#include "solver/block_cg/block_cg_findings.hpp"
#include "solver/checkpoint.hpp"
#include "solver/report.hpp"
#include "solver/space/block_space.hpp"
#include "spmm/matrix/dense_block.hpp"
#include "spmm/matrix/linear_operator.hpp"

namespace block_eigs {

struct BlockCgOptions {
  double tolerance = 1e-8;    ///< a right-hand side is done at ||f - A x|| <= tolerance ||f||
  int max_iterations = 1000;  ///< of each block of right-hand sides, in all precisions together
  int block_size = 16;        ///< right-hand sides solved together; more of them are solved in turns
  std::vector<double> shares =
      {};  ///< of the tolerance, one a right-hand side, where some may not leave all of it
  /// Where iterations in float leave something to be done in double, they do not count: who did not ask for them
  /// has as many in double as without them.
  bool float_is_extra = false;
};

/// What happened in one iteration. Before its turn the residual of a right-hand side counts as ||f||.
struct BlockCgIteration {
  std::vector<double> residual_norms;  ///< of all right-hand sides, by the recurrence
  double seconds = 0.0;
  int active_columns = 0;  ///< columns multiplied by A
  bool in_float = false;   ///< it worked in float
};

/// Entries of vectors belong to the right-hand sides, in their order.
template <class T>
struct BlockCgResult {
  DenseBlock<T> solution;                        ///< own rows of n x right-hand sides
  std::vector<double> rhs_norms;                 ///< ||f||_2
  std::vector<double> residual_norms;            ///< ||f - A x||_2, A x computed anew
  std::vector<double> recursive_residual_norms;  ///< what the recurrence held these norms to be
  std::vector<Outcome> outcomes;
  std::vector<int> iterations;  ///< in which the right-hand side took part
  std::vector<BlockCgIteration> history;
  int total_iterations = 0;    ///< of all blocks
  double setup_seconds = 0.0;  ///< work space and norms
  double solve_seconds = 0.0;
  BlockCgFindings findings;
  std::string remark;  ///< why some are not solved; empty where all are
};

/// Solves A X = F, A symmetric positive definite, for all columns of F at once: block conjugate gradients in the
/// form BCGrQ of Dubrulle (Retooling the method of block conjugate gradients, ETNA 12, 2001), whose residual block
/// is stored as Q C with orthonormal Q and small C, so that dependent right-hand sides and those that converge
/// early do no harm: their directions leave the block. With a preconditioner M^-1, Q is orthonormal in the inner
/// product x^T M^-1 y, which is BCGrQ for M^-1/2 A M^-1/2.
///
/// A right-hand side is done at ||f - A x|| <= tolerance ||f||, or at_accuracy_limit where that cannot be reached
/// and ||f - A x|| <= 10 eps (||A||inf ||x|| + ||f||). The true residual decides at the end; where the recurrence
/// is far from it, the iteration starts again from there, and the iterate with the smallest true residual is
/// returned. An A that is not positive definite, or singular with a right-hand side outside its range, is
/// recognised by p^T A p <= 0 beyond doubt of rounding, and `remark` says so; those right-hand sides end as
/// not_converged.
///
/// `preconditioner` null is the identity, else symmetric positive definite. `f` is n x m, any m; `initial` is
/// n x m too, or has no columns and stands for zero. An iteration multiplies A with one column a direction and
/// sums over ranks twice. It moves 10 words a row and column where the kernels sum products in the passes that
/// make their factors (11 with a diagonal preconditioner, 14 with another one, of its own only one read and one
/// write), else 13 (16). Holds 3 blocks of block_size columns (4 with a preconditioner) beside F and X, and one
/// more for a moment where A seems to be singular.
///
/// It ends early, with the best solutions so far, where `proceed` says so. Numbers are never a reason to throw: a
/// preconditioner or an A that is not positive definite is among the findings.
///
/// Collective. Throws, on all ranks, InputError (shapes, options, right-hand sides that are not finite) and
/// RunError (out of memory).
template <class T>
BlockCgResult<T> block_cg(BlockSpace<T>& space, LinearOperator<T>& a, LinearOperator<T>* preconditioner,
                          const DenseBlock<T>& f, DenseBlock<T> initial, const BlockCgOptions& options,
                          const Observer& observer = {}, const Proceed& proceed = {});

}  // namespace block_eigs
