#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "solver/checkpoint.hpp"
#include "solver/report.hpp"
#include "solver/space/block_space.hpp"
#include "spmm/matrix/dense_block.hpp"
#include "spmm/matrix/linear_operator.hpp"

namespace block_eigs {

enum class Which { smallest, largest };

/// What a residual is measured against: tolerance times |lambda| ||Bx||, times (||A||inf + |lambda| ||B||inf)
/// ||x||, or the tolerance itself.
enum class Convergence { relative, norm, absolute };

struct LobpcgOptions {
  int pairs = 1;
  Which which = Which::smallest;
  double tolerance = 1e-8;
  Convergence convergence = Convergence::relative;
  int max_iterations = 500;   ///< for every window of columns; one where the block holds all pairs
  int iterations_before = 0;  ///< of these, what its start vectors took
  int block_size = 0;         ///< columns at work; 0 takes default_block_size(pairs)
  std::uint64_t seed = 1;
  GlobalIndex dense_up_to = 3000;  ///< rows up to which what iterations leave undone is solved densely
  bool dense = false;              ///< solve it densely at once; for at most 20,000 rows
  /// Sharpen the start block of every window by Chebyshev filters while that pays: B = identity, A of known norm;
  /// else without effect. For weak preconditioners. A filter with its Rayleigh-Ritz step is an iteration.
  bool filtered_start = false;
  /// Those filters build a basis, by chebyshev_davidson(), where the block holds all pairs and there is memory.
  bool filter_basis = false;
  /// Some eigenvalues may lie far beyond all others at the end that is not wanted: filters look for them first,
  /// and where there are some they build a basis, too.
  bool expects_outliers = false;
  /// The preconditioner is (A - sigma B)^-1 by factors, sigma next to the wanted values.
  bool exact_inverse = false;
};

/// Pairs plus guard vectors; above 150 pairs a window of 128 columns.
int default_block_size(int pairs);
/// Columns at work.
int block_width(const LobpcgOptions& options);
/// Whether lobpcg solves a problem of so many rows densely: where it is asked to, or where that is so small.
bool solves_densely(const LobpcgOptions& options, GlobalIndex rows, int constraints);
/// Columns of a start block to take from a coarser model of the problem: the pairs and most of the guard vectors.
/// The others stay random, for what that model does not see.
int start_columns(int pairs, int block_size);

/// What happened in one iteration; entries of pairs that are not known yet are NaN.
struct LobpcgIteration {
  std::vector<double> eigenvalues;
  std::vector<double> residual_norms;
  double seconds = 0.0;  ///< since the solve began
  int active_columns = 0;
  int products = 0;       ///< columns multiplied with A: as many, or more where the iteration was a filter
  bool in_float = false;  ///< it worked in float
};

/// Holds fewer pairs than asked for only where it ended early before a window of columns got to the others.
template <class T>
struct EigenResult {
  std::vector<double> eigenvalues;  ///< smallest ascending, largest descending
  /// ||A x - lambda B x||_2 with ||x||_B = 1, A x computed anew; infinite where x is a copy of earlier vectors.
  std::vector<double> residual_norms;
  /// There is an eigenvalue within this distance: the residual norm where B is the identity, else NaN.
  std::vector<double> error_bounds;
  std::vector<Outcome> outcomes;
  DenseBlock<T> eigenvectors;  ///< own rows of n x pairs, B-orthonormal
  /// What else was at work, for who goes on from there: where it was stopped alone, and there was memory for them.
  DenseBlock<T> guards;
  std::vector<LobpcgIteration> history;
  int iterations = 0;
  double setup_seconds = 0.0;  ///< start block and its Rayleigh-Ritz step
  double solve_seconds = 0.0;
  Limitation limitation = Limitation::none;
  std::string remark;  ///< why it ended early; empty where everything converged
};

/// Some smallest or largest eigenpairs of A x = lambda B x, A symmetric, B symmetric positive definite, by locally
/// optimal block preconditioned conjugate gradients (Knyazev, SIAM J. Sci. Comput. 23, 2001) with an orthonormal
/// basis [X P W] (Hetmaniuk, Lehoucq 2006; Duersch, Shao, Yang, Gu 2018). Converged pairs are locked in order;
/// when pairs exceed the block size, a window of columns moves up. A problem so small that the block would fill a
/// fifth of the space is solved densely on rank 0.
///
/// `b` null is the identity; `preconditioner` null is the identity, else symmetric positive definite.
/// `constraints` (own rows of n x c, near an invariant subspace) are kept out of the result. `initial` holds
/// start vectors, n x at most block size, or nothing. Every iteration multiplies A with one column per active
/// vector; the start, the end, rare refreshes and products for R apart, which `products` does not count. It ends
/// early where `proceed` says so. With a `checkpoint` it goes on from the state that this holds, in place of
/// `initial`, and leaves its own there; limits on iterations may be others then, and the tolerance a larger one.
///
/// Norms are sums of squares, of residuals too: in double A and B are to have norms between 1e-100 and
/// 1e100, as those that the programs have scaled.
///
/// Once there are Ritz pairs nothing that happens to the numbers is an error: the best pairs are verified and
/// returned, `limitation` and `remark` say what was in the way.
///
/// Collective. Throws InputError (pairs out of range, a dense problem too large, B not positive definite),
/// RunError (memory), NumericalError (a start block, or its product with A, that is not finite).
template <class T>
EigenResult<T> lobpcg(BlockSpace<T>& space, LinearOperator<T>& a, LinearOperator<T>* b,
                      LinearOperator<T>* preconditioner, const DenseBlock<T>* constraints, DenseBlock<T> initial,
                      const LobpcgOptions& options, const Observer& observer = {}, const Proceed& proceed = {},
                      Checkpoint* checkpoint = nullptr);

/// Vectors that approximate the leading options.pairs eigenvectors of A, B = identity, after
/// options.max_iterations iterations or earlier: not verified, for starting another solve. The columns at work are
/// options.block_size; fewer columns come back where that is less. Arguments and errors as lobpcg's. Collective.
template <class T>
DenseBlock<T> approximate_eigenvectors(BlockSpace<T>& space, LinearOperator<T>& a,
                                       LinearOperator<T>* preconditioner, DenseBlock<T> initial,
                                       const LobpcgOptions& options);

}  // namespace block_eigs
