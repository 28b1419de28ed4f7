#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "solver/budget.hpp"
#include "solver/checkpoint.hpp"
#include "solver/davidson/davidson_basis.hpp"
#include "solver/davidson/davidson_plan.hpp"
#include "solver/lobpcg/deflated_vectors.hpp"
#include "solver/lobpcg/float_operators.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "solver/lobpcg/product_sizes.hpp"
#include "solver/lobpcg/residual_test.hpp"
#include "solver/lobpcg/ritz_pairs.hpp"
#include "solver/lobpcg/vector_panel.hpp"

namespace block_eigs {

/// A x = lambda B x and what helps to solve it. `b` null is the identity, `preconditioner` null too.
template <class T>
struct EigenProblem {
  BlockSpace<T>& space;
  LinearOperator<T>& a;
  LinearOperator<T>* b = nullptr;
  LinearOperator<T>* preconditioner = nullptr;

  bool with_mass() const { return b != nullptr; }
};

/// One way to go through the iteration. A value that is handed in, so that no step asks where it is.
struct LobpcgPhase {
  /// What of the backward-error limit residuals are taken to. Residuals of the recursion fall below the rounding
  /// errors of the vectors, safely to so much of it where nothing is computed anew.
  double accuracy = 1.0;
  /// Least squared sine of the angle between a column of [X P W] and those before it; 0 takes what the tolerance
  /// leaves room for.
  double smallest_pivot = 0.0;
  int resting_guards = 0;           ///< iterations in which guard vectors may rest: see columns_with_directions
  bool verified = true;             ///< A X computed anew now and then, and pairs count as converged
  bool ends_on_stagnation = false;  ///< when residuals have stopped falling, or grow
  double budget_share = 1.0;        ///< of the iterations left, how many this phase may take

  /// To be finished in double: it follows its recursion, and ends when that leads nowhere.
  static LobpcgPhase low_precision() { return {0.3, 0.01, 0, false, true, 0.8}; }
  /// After low_precision(): guard vectors need hardly be better than that to separate the wanted vectors from the
  /// rest.
  static LobpcgPhase refinement() {
    LobpcgPhase phase;
    phase.resting_guards = 12;
    return phase;
  }
};

/// Pairs that are asked for together: the columns at work, and how many pairs may be locked before fresh columns
/// come.
struct Window {
  int width = 0;        ///< columns at work at most
  int guard = 0;        ///< of them, behind the last wanted one
  int target = 0;       ///< locked pairs with which it ends
  bool refills = true;  ///< random columns take the place of locked ones as the iteration goes on
  /// Of the limit, what a residual must come to before its pair may leave others behind. What is left of it lies
  /// along the pairs that come after, which cannot take it off.
  double lock_share = 1.0;
  /// Others follow: with hundreds of locked pairs what they left adds up, so that residuals are measured without
  /// their components along locked vectors, which a Rayleigh-Ritz step on all pairs takes off in the end.
  bool one_of_many = false;
};

/// What does not change during a run, and where it reports to. By reference; outlived by all of them.
template <class T>
struct LobpcgRun {
  EigenProblem<T> problem;
  const LobpcgOptions& options;
  LobpcgPhase phase;
  Budget& budget;
  const Observer& observer;
  const Proceed& proceed;
  std::vector<LobpcgIteration>& history;
  int first_iteration = budget.spent();
  Checkpoint* checkpoint = nullptr;  ///< where the state is left and found; null for nowhere
  FloatOperators in_float{};         ///< for directions that need not be exact; nulls where there are none

  /// Iterations that this phase may take still.
  int iterations_left() const {
    const int share = static_cast<int>(phase.budget_share * (budget.limit() - first_iteration));
    return std::min(budget.left(), first_iteration + share - budget.spent());
  }
};

/// Notices when the worst residual no longer falls.
class Stagnation {
 public:
  explicit Stagnation(int patience = 20) : patience_(patience) {}

  /// The worst ratio after one more iteration: whether as many as there is patience for have not brought it down
  /// by a tenth (what is left is rounding errors, or slow enough to be done otherwise), or it has grown tenfold
  /// (rounding errors feed on themselves). Ratios of `rounding` and less are within what rounding errors may come
  /// to: from there on they decide whether an iteration brings anything, and one that does not is enough.
  bool after(double worst, double rounding = 0.0) {
    if (worst < 0.9 * best_) {
      best_ = worst;
      since_progress_ = 0;
      return false;
    }
    return ++since_progress_ >= (best_ <= rounding ? 1 : patience_) || worst > 10.0 * best_;
  }

 private:
  double best_ = std::numeric_limits<double>::infinity();
  int since_progress_ = 0;
  int patience_;
};

/// How far rounding errors have come.
struct RoundingErrors {
  bool near_tolerance =
      false;              ///< some residual has come down to within six digits of them, and the tolerance is there
  int since_refresh = 0;  ///< iterations since A X and A P were computed
  /// Samples of the errors of [X P] since it was last found orthonormal; empty for none, and on ranks that do not
  /// solve small problems. See carried_errors.
  SmallMatrix samples;
  double amplification = 1.0;  ///< their largest mean square, on all ranks
  int strict_until = 0;        ///< iterations spent until W is taken as it comes again
  bool measure = false;        ///< the Gram matrix of [X P] is not taken for I any more
};

/// A [X P] carried along by updates moves 7 blocks: 3 read, 3 written, and X for R. A product with A for R alone
/// moves X, R, R again for its norms, what there is of A, and should be worth it. In float a recursion is followed
/// below what products can tell.
constexpr double most_blocks_beside = 3.0;

/// Whether A X and A P are stored and updated; else R comes from a product. Collective.
template <class T>
bool carries_images_of(const LinearOperator<T>& a, bool with_mass, LocalIndex width) {
  return with_mass || sizeof(T) < sizeof(double) || a.blocks_beside(width) > most_blocks_beside;
}

/// Columns that constraints, locked vectors and the last block behind them come to at most: X and what is locked
/// are no more than the pairs and the guard vectors.
inline LocalIndex deflated_at_most(const LobpcgOptions& options, LocalIndex width, LocalIndex constraints) {
  return constraints + options.pairs + (width > options.pairs ? width - options.pairs : width);
}

/// What a Rayleigh-Ritz step on [X P W] sums over the ranks.
struct BasisProducts {
  SmallMatrix of_w;            ///< [X P W]^T [A W, B W]
  SmallMatrix of_known;        ///< [X P]^T [A X, A P, B X, B P]; empty where that is taken for known
  SmallMatrix along_deflated;  ///< V^T B W, V deflated; empty where that is taken for zero
};

/// The vectors and numbers of the iteration.
template <class T>
struct LobpcgState {
  /// Room for `width` columns at work, and for what may be deflated. Blocks `x_room` and `w_room` of as many
  /// columns become the memory of X and W and keep their contents. Collective.
  LobpcgState(const EigenProblem<T>& problem, const LobpcgOptions& options, LocalIndex width,
              LocalIndex constraints, DenseBlock<T> x_room = {}, DenseBlock<T> w_room = {})
      : carries_images(carries_images_of(problem.a, problem.with_mass(), width)),
        x(problem.space, width, problem.with_mass(), carries_images, std::move(x_room)),
        p(problem.space, width, problem.with_mass(), carries_images),
        w(problem.space, width, problem.with_mass(), true, std::move(w_room)),
        r(problem.space, width),
        spare(problem.space, width),
        deflated(problem.space, deflated_at_most(options, width, constraints), problem.with_mass()),
        test(options, {.with_mass = problem.with_mass()}, 0.0),
        sizes(problem.space, problem.a, problem.b) {}

  /// Whether A X and A P are those of X and P all the time; else there is no memory for them, and R comes from a
  /// product with A.
  bool carries_images = true;
  VectorPanel<T> x;  ///< Ritz vectors, orthonormal
  VectorPanel<T> p;  ///< directions in which they have moved, orthonormal and orthogonal to x
  VectorPanel<T> w;  ///< preconditioned residuals
  Panel<T> r;        ///< A X - B X Lambda
  Panel<T> spare;
  DeflatedVectors<T> deflated;
  DavidsonBasis<T> basis{};  ///< of filters, while they run; X is made of it
  /// Where filters have found the spectrum of A, or of -A where the largest pairs are asked for, to end.
  std::optional<SpectrumBounds> spectrum{};
  RitzPairs ritz;           ///< of x
  RitzPairs locked;         ///< of the locked vectors, in their order
  SmallMatrix projected_p;  ///< P^T A P
  /// Of the step to come, where it was begun before norms were known: W is R then, and A W is there. See
  /// look_ahead.
  std::optional<BasisProducts> ahead{};
  SmallMatrix x_along_r;  ///< X^T R where the last step formed it, and both are what they were; else empty
  ResidualTest test;
  ProductSizes<T> sizes;
  Window window;
  RoundingErrors rounding;
  double setup_seconds = 0.0;  ///< of the budget's clock, what went by before iterations and not in them

  int active() const { return x.cols(); }
  /// For A X: its place where it is carried along, and nothing else changes; else `spare`, resized to it and lost
  /// to it until that is wanted for anything else.
  BlockView<T> make_room_for_image_of_x() {
    if (carries_images) return x.a();
    spare.set_columns(x.cols());
    return spare.view();
  }
  /// For A P: its place where it is carried along, and nothing else changes; else that of R, resized to it, so
  /// that R has to be made anew.
  BlockView<T> make_room_for_image_of_p_in_r() {
    if (carries_images) return p.a();
    r.set_columns(p.cols());
    return r.view();
  }
  /// Of the pairs at work, those asked for.
  int wanted(const LobpcgOptions& options) const {
    const int left = options.pairs - locked.count();
    return left < active() ? left : active();
  }
};

/// Whether it is one of the iterations in which guard vectors may rest.
template <class T>
bool may_rest(const LobpcgRun<T>& run) {
  return run.budget.spent() - run.first_iteration < run.phase.resting_guards;
}

/// Every iteration loses about epsilon over the smallest pivot of orthogonality in X and P, and with it that much
/// of the eigenvalues: what the tolerance leaves room for, which is nothing where residuals are rounding errors.
template <class T>
double acceptable_pivot(const LobpcgRun<T>& run, const LobpcgState<T>& state) {
  if (state.rounding.near_tolerance || run.budget.spent() < state.rounding.strict_until) return 1.0;
  if (run.phase.smallest_pivot > 0.0) return run.phase.smallest_pivot;
  const double epsilon = std::numeric_limits<T>::epsilon();
  return std::max(1e3 * epsilon / std::max(run.options.tolerance, epsilon), 5.0 * std::pow(epsilon, 0.25));
}

/// So strict that W has to be orthonormal to X and P before it is multiplied.
constexpr double strict_pivot = 0.1;

}  // namespace block_eigs
