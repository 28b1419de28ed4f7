#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "solver/block_cg/block_cg_findings.hpp"
#include "solver/block_cg/block_cg_recurrence.hpp"
#include "solver/block_cg/deferred_solution.hpp"
#include "solver/block_cg/linear_residual_test.hpp"
#include "solver/report.hpp"
#include "solver/space/panel.hpp"
#include "solver/space/rounding_probe.hpp"
#include "spmm/matrix/linear_operator.hpp"

namespace block_eigs::bcgrq {

/// One right-hand side f and its solution x.
struct Column {
  double rhs_norm = 0.0;        ///< ||f||
  double share = 1.0;           ///< of the tolerance, that it may leave
  double limit = 0.0;           ///< share tolerance ||f||
  double recursive_norm = 0.0;  ///< of the residual, by the recurrence
  double true_norm = 0.0;       ///< ||f - A x||, when last computed
  double best_norm = 0.0;       ///< true_norm of the best iterate so far
  double reached_norm = 0.0;    ///< the least true_norm as rounds of this way ended
  double aim = 0.0;             ///< where the recurrence may end in this round, if above the limit
  double least_norm = std::numeric_limits<double>::infinity();  ///< of recursive_norm in this round
  double dip = std::numeric_limits<double>::infinity();        ///< least_norm when recursive_norm had risen by far
  double left_norm = std::numeric_limits<double>::infinity();  ///< best_norm where a drift was last gone back from
  double inner_norm = 0.0;                                     ///< (r^T M^-1 r)^1/2, by the recurrence
  double least_inner = std::numeric_limits<double>::infinity();  ///< of inner_norm as rounds began
  double energy = 0.0;         ///< x^T A x - 2 f^T x, the least that was measured
  double product_bound = 0.0;  ///< ||A|| ||x||, by the x last measured
  double product_scale = 0.0;  ///< what rounding errors in A x are relative to: that, or less
  int iterations = 0;          ///< in which it took part
  bool active = false;
  bool settled = false;       ///< true_norm, as last computed for an x, is within rounding errors in A x
  bool best_settled = false;  ///< the same of best_norm
  bool unsolvable = false;    ///< recognised as outside the range of A
  /// At the accuracy limit by ||A|| ||x|| as the last round ended, where rounding errors in A x, estimated, are
  /// far smaller than that and less than the residual: rows of A are of very different size, and more may be
  /// attained.
  bool may_gain = false;
  Outcome outcome = Outcome::not_converged;
};

/// The iterates with the smallest true residuals so far: Column::best_norm. Those of all ways that are tried on
/// the same right-hand sides, the initial guess included.
template <class T>
struct BestIterates {
  DenseBlock<T> x{};     ///< made when first needed
  bool is_zero = false;  ///< they are the initial guess zero, and `x` holds nothing yet
  bool known = false;    ///< there are some
};

struct Saving;

/// Right-hand sides that are solved together.
template <class T>
struct Sides {
  ConstBlockView<T> f;                       ///< own rows of n x m
  BlockView<T> x;                            ///< own rows of n x m: the initial guess, then the solution
  bool starts_at_zero = false;               ///< the initial guess is zero
  std::vector<Column> columns;               ///< m; rhs_norm is given
  BlockCgFindings findings;                  ///< how it ended, what was seen of A and the preconditioner
  std::string remark;                        ///< what keeps some from being solved; empty where nothing does
  bool in_float = std::is_same_v<T, float>;  ///< what works on them at present does so in float
  BestIterates<T> best{};
  int not_counted = 0;  ///< iterations among those of columns that no budget was charged for
  /// What the budget had been charged when the iterations in float began that are at work, or that a state taken
  /// over was left by: they may turn out not to count.
  std::optional<int> before_float{};
  const Saving* saving = nullptr;  ///< where states go to and come from; null for nowhere

  LocalIndex count() const { return x.cols; }
  bool any_active() const {
    return std::any_of(columns.begin(), columns.end(), [](const Column& column) { return column.active; });
  }
};

/// What the steps of BCGrQ work on: the system, the tall blocks with room for `width` right-hand sides, and the
/// small matrices. Used for one block of right-hand sides after another.
template <class T>
struct State {
  /// `preconditioner` may be null. Collective; throws RunError on all ranks when one is out of memory.
  State(BlockSpace<T>& space, LinearOperator<T>& a, LinearOperator<T>* preconditioner, double tolerance,
        LocalIndex width);

  BlockSpace<T>& space;
  LinearOperator<T>& a;
  LinearOperator<T>* preconditioner;
  LocalIndex width;
  LinearResidualTest test;       ///< ||A|| in it grows with what is met where A does not know its norm
  BlockCgRecurrence recurrence;  ///< C, T, zeta, Xi: of BlockSpace::solve_small, maybe on rank 0 alone
  Panel<T> q;                    ///< Q', before a round R
  Panel<T> z;                    ///< Z' = M^-1 Q'; empty where M is the identity: see preconditioned()
  Panel<T> s;                    ///< directions
  Panel<T> as;                   ///< A S
  DeferredSolution<T> deferred;  ///< what is still to be added to X within a round, where that pays
  SmallMatrix products;          ///< Q'^T [Z' Q'] of the Q' that there is; Q'^T Q' where M is the identity
  RoundingProbe<T> probe;
  double largest_inner = 0.0;  ///< p^T A p / p^T M p of directions that were looked at

  BlockView<T> preconditioned() const { return preconditioner != nullptr ? z.view() : q.view(); }
};

/// How a round, the iterations between two computations of the true residuals, came to its end.
enum class RoundEnd {
  done,               ///< no right-hand side is at work any more, by the recurrence
  out_of_iterations,  ///< the budget is spent
  stalled,            ///< the recurrence cannot go on, or is to be replaced by the true residuals
  given_up,           ///< a right-hand side was recognised as unsolvable: the others go on in a new round
  interrupted,        ///< the caller wants no more iterations
  impossible          ///< A or M is not positive definite, or numbers have left the range of the arithmetic
};

/// What follows a round.
enum class Next {
  end,
  round,           ///< another one
  tentative_round  ///< another one, which ends at once where r^T M^-1 r has not become less than in all before
};

/// Called after every iteration with the number of directions that were multiplied by A. Returns whether to go on:
/// the same on all ranks.
using Iterated = std::function<bool(LocalIndex)>;

}  // namespace block_eigs::bcgrq
