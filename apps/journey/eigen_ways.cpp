#include "apps/journey/eigen_ways.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "apps/checkpoint/finished.hpp"
#include "apps/input/direct.hpp"
#include "apps/input/shift_search.hpp"
#include "apps/input/stopwatch.hpp"
#include "apps/journey/better_result.hpp"
#include "apps/journey/count_in.hpp"
#include "apps/journey/held_by_constraints.hpp"
#include "apps/journey/multigrid_passed_over.hpp"
#include "apps/journey/pair_order.hpp"
#include "apps/journey/refine_by_factors.hpp"
#include "solver/lobpcg/lobpcg_mixed.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// What iterations begin with: vectors of a file, or of coarse levels where the preconditioner has some.
template <class T>
DenseBlock<T> start_block(const Preconditioner<T>& preconditioner, const EigensolverConfig& config,
                          DenseBlock<T> initial) {
  if (!starts_from_coarse_levels(preconditioner, config)) return initial;
  const LobpcgOptions& options = config.options;
  return preconditioner.start_vectors(start_columns(options.pairs, options.block_size), options.seed);
}

/// Vectors of a result for another solve to start from.
template <class T>
DenseBlock<T> vectors_of(BlockSpace<T>& space, const EigenResult<T>& result, int most) {
  const LocalIndex pairs = std::min<LocalIndex>(result.eigenvectors.cols(), most);
  const LocalIndex guards = std::min<LocalIndex>(result.guards.cols(), most - pairs);
  DenseBlock<T> block = space.make_block(pairs + guards);
  if (pairs > 0) space.copy(result.eigenvectors.columns(0, pairs), block.view().columns(0, pairs));
  if (guards > 0) space.copy(result.guards.columns(0, guards), block.view().columns(pairs, guards));
  return block;
}

/// In units of eigenvalues: with ||x||_B = 1 a residual stands for B^-1/2 r.
template <class T>
ShiftFollower shift_follower(const Problem<T>& problem, const EigensolverConfig& config) {
  const double norm = problem.a->norm_inf();
  const double of_mass = problem.b ? problem.b->typical_row_sum() : 1.0;
  return {config.options.which, ShiftSearch::rounding(norm / of_mass), 1.0 / std::sqrt(of_mass)};
}

/// Makes the operators of solver.config, whose shift is looked for where `follower` saw the wanted values last,
/// beyond so many of those that were found at most.
template <class T>
void make_others(Problem<T>& problem, EigenSolver<T>& solver, const ShiftFollower& follower, int along,
                 const Announce& announce) {
  PreconditionerConfig& config = solver.config.eigensolver.preconditioner;
  const double shift_before = solver.operators->preconditioner.shift;
  const bool factors = config.type == PreconditionerType::direct;
  follower.aim(config.direct.target, along);
  const bool in_float = begins_in_float<T>(solver.config.eigensolver, problem.b != nullptr);
  solver.operators.reset();
  if (!factors) problem.factorization.reset();
  solver.operators = other_operators(problem, solver.config, config, in_float, announce);
  if (factors && config.type != PreconditionerType::direct && std::isfinite(shift_before)) {
    // Factors that were good enough so far are better than none; from here on their shift stays.
    config.type = PreconditionerType::direct;
    config.direct.shift = shift_before;
    solver.operators = other_operators(problem, solver.config, config, in_float, announce);
  }
  if (solver.choice && config.type == PreconditionerType::none &&
      solver.choice->config().preconditioner.type != PreconditionerType::none)
    solver.choice->lose();
  if (announce && config.type == PreconditionerType::direct) announce(solver.operators->preconditioner.made);
  if (!multigrid_is_passed_over(solver)) return;
  solver.config.eigensolver = solver.choice->config();
  if (announce) announce("preconditioner from here on: " + solver.choice->description());
  make_others(problem, solver, follower, along, announce);
}

}  // namespace

template <class T>
EigenResult<T> iterate(BlockSpace<T>& space, Problem<T>& problem, const EigenSolver<T>& solver,
                       const DenseBlock<T>& constraints, DenseBlock<T> initial, const LobpcgOptions& asked,
                       const Observer& observer, const Proceed& proceed, Checkpoint* checkpoint) {
  LobpcgOptions options = asked;
  options.exact_inverse = solver.config.eigensolver.preconditioner.type == PreconditionerType::direct;
  const DenseBlock<T>* orthogonal_to = constraints.cols() > 0 ? &constraints : nullptr;
  LinearOperator<T>* preconditioner = solver.operators->preconditioner.operation.get();
  if constexpr (std::is_same_v<T, double>) {
    const FloatOperators& in_float = solver.operators->in_float;
    if (in_float.a != nullptr) {
      return lobpcg_mixed(space, *problem.a, preconditioner, in_float, orthogonal_to, std::move(initial), options,
                          observer, proceed, checkpoint);
    }
  }
  return lobpcg<T>(space, *problem.a, problem.b.get(), preconditioner, orthogonal_to, std::move(initial), options,
                   observer, proceed, checkpoint);
}

template <class T>
EigenWays<T>::EigenWays(BlockSpace<T>& space, Problem<T>& problem, EigenSolver<T>& solver,
                        const DenseBlock<T>& constraints, const Observer& observer, const Announce& announce,
                        const Proceed& wanted, RunCheckpoint* checkpoint)
    : space_(space),
      problem_(problem),
      solver_(solver),
      constraints_(constraints),
      observer_(observer),
      announce_(announce),
      wanted_(wanted),
      checkpoint_(checkpoint),
      follower_(shift_follower(problem, solver.config.eigensolver)) {
  if (!solver.choice) return;
  solver.choice->allow_factors([&problem, &options = solver.config.eigensolver.options] {
    return foreseen_factors(problem, block_width(options));
  });
}

template <class T>
void EigenWays<T>::say(const std::string& what) const {
  if (announce_) announce_(what);
}

/// Empty where nothing may end iterations early.
template <class T>
Proceed EigenWays<T>::proceed() {
  const bool factors = solver_.config.eigensolver.preconditioner.type == PreconditionerType::direct;
  if (!solver_.choice && !factors && !wanted_) return {};
  return [this](const IterationReport& report) {
    stopped_ |= wanted_ && !wanted_(report);
    moves_ = !stopped_ && !follower_.proceed(report);
    return !stopped_ && !moves_ && (!solver_.choice || solver_.choice->proceed(report));
  };
}

template <class T>
bool EigenWays<T>::held() const {
  return held_by_constraints(space_, *problem_.a, problem_.b.get(), constraints_, result_);
}

/// Whether a result is kept beside those of ways after the next one: it takes next to nothing.
template <class T>
bool EigenWays<T>::keeps_best() const {
  constexpr double little = 2e7;
  const double rows = static_cast<double>(space_.partition().rows()) / space_.comm().size();
  return rows * solver_.config.eigensolver.options.pairs * sizeof(T) <= little;
}

template <class T>
bool EigenWays<T>::turns_to_another_way() {
  if (stopped_ || space_.to_end_early()) return false;
  return moves_ || (solver_.choice && !held() && solver_.choice->change(result_.limitation));
}

/// The shift of factors that may move: there are some, and their shift is not given.
template <class T>
double EigenWays<T>::movable_shift() const {
  const bool given = solver_.config.eigensolver.preconditioner.direct.shift.has_value();
  return given ? std::numeric_limits<double>::quiet_NaN() : solver_.operators->preconditioner.shift;
}

/// The same where LOBPCG iterates: its block holds all pairs, so that all that was found goes along.
template <class T>
double EigenWays<T>::movable_shift_of_lobpcg() const {
  const LobpcgOptions& options = solver_.config.eigensolver.options;
  return options.pairs > block_width(options) ? std::numeric_limits<double>::quiet_NaN() : movable_shift();
}

/// The way that `auto` has turned to, which looks at all pairs anew, from what it has to begin with.
template <class T>
void EigenWays<T>::take_choice() {
  solver_.config.eigensolver = solver_.choice->config();
  say("preconditioner from here on: " + solver_.choice->description());
  renew_operators(0);
}

/// Factors for another sigma, which so many of the pairs that were found go along to at most.
template <class T>
void EigenWays<T>::move_shift(int along) {
  if (solver_.choice) solver_.choice->begin();
  moves_ = false;
  renew_operators(along);
}

template <class T>
void EigenWays<T>::renew_operators(int along) {
  make_others(problem_, solver_, follower_, along, announce_);
  follower_.begin(movable_shift_of_lobpcg());
  if (solver_.changed) solver_.changed();
}

/// `same`: the way goes on, with another shift.
template <class T>
LanczosStart<T> EigenWays<T>::start_of_the_next(int columns_before, bool same, EigenResult<T>& passed) {
  const EigensolverConfig& config = solver_.config.eigensolver;
  const int columns = block_width(config.options);
  const bool wider = columns > columns_before;
  if (config.options.dense) return {};  // begins with none, and may come to less than these
  if (!same) {
    LanczosStart<T> found = start_by_lanczos(passed);
    if (found.result || found.pairs.count() > 0) return found;
  }
  // Filters bring forth all columns of a wider block alike, and would see in these that nothing comes forward.
  DenseBlock<T> initial;
  const bool found = result_.eigenvectors.cols() + result_.guards.cols() > 0;
  if (found && (!wider || !config.options.filtered_start)) initial = vectors_of(space_, result_, columns);
  if (config.preconditioner.type == PreconditionerType::direct)
    refine_by_factors(space_, problem_, *solver_.operators->preconditioner.operation,
                      static_cast<LocalIndex>(config.preconditioner.direct.target.found.size()), initial);
  // They are what is left where there is no memory for a wider block, and where nothing better comes.
  if (!wider && !keeps_best()) {
    result_.eigenvectors = {};
    result_.guards = {};
  }
  return {{}, {std::move(initial), {}, {}}};
}

template <class T>
std::optional<EigenResult<T>> EigenWays<T>::go_on_from(LanczosStart<T> start, int steps) {
  return start.result ? std::move(start.result) : iterate_if_possible(std::move(start.pairs.vectors), steps);
}

/// After so many Lanczos steps. Nothing where there was no memory for what `auto` had turned to: a wider block, or
/// a dense matrix.
template <class T>
std::optional<EigenResult<T>> EigenWays<T>::iterate_if_possible(DenseBlock<T> initial, int steps) {
  LobpcgOptions options = solver_.config.eigensolver.options;
  options.iterations_before = steps;
  try {
    return iterate(space_, problem_, solver_, constraints_, std::move(initial), options, observer_, proceed(),
                   checkpoint_);
  } catch (const Error& error) {
    if (dynamic_cast<const OnAllRanks*>(&error) == nullptr || error.exit_code() != ExitCode::run_failed) throw;
    if (!solver_.choice) throw;
    if (solver_.choice->pass_over_dense()) {
      say(std::string("not solved densely: ") + error.what());
    } else if (solver_.choice->narrow()) {
      say(std::string("fewer columns again, because so many could not be had: ") + error.what());
    } else {
      throw;
    }
  }
  solver_.config.eigensolver = solver_.choice->config();
  return std::nullopt;
}

/// What came before the state of the checkpoint; and from here on that goes along with every state.
template <class T>
void EigenWays<T>::resume() {
  read_earlier(checkpoint_->found(), result_);
  checkpoint_->describe_journey([this] {
    Journey journey = earlier(result_);
    if (solver_.choice) add_choice(*solver_.choice, journey);
    return journey;
  });
}

template <class T>
EigenResult<T> EigenWays<T>::solve(DenseBlock<T> initial) {
  const Stopwatch setup;
  const EigensolverConfig& config = solver_.config.eigensolver;
  if (checkpoint_ != nullptr) resume();
  follower_.begin(movable_shift_of_lobpcg());
  EigenResult<T> passed;
  LanczosStart<T> start{{}, {std::move(initial), {}, {}}};
  if (checkpoint_ == nullptr || checkpoint_->saved() == nullptr) {
    DenseBlock<T>& vectors = start.pairs.vectors;
    if (vectors.cols() == 0) start = start_by_lanczos(passed);
    vectors = start_block(solver_.operators->preconditioner, config, std::move(vectors));
  }
  const double setup_seconds = setup.seconds() - passed.solve_seconds;
  const int steps = passed.iterations;
  add_counts(passed, result_);
  std::optional<EigenResult<T>> first = go_on_from(std::move(start), steps);
  // What this way had no use for is of no use to another one, which would count its iterations again.
  if (checkpoint_ != nullptr) checkpoint_->taken();
  if (first) {
    first->setup_seconds += setup_seconds;
    count_in(result_, *first);
    result_ = std::move(*first);
  } else {
    result_.limitation = Limitation::stopped;
  }
  EigenResult<T> best;  // of the ways before the last, or of the one before it alone
  while (turns_to_another_way()) {
    const Stopwatch again;
    if (!keeps_best()) best = {};
    const int columns = block_width(config.options);
    const bool same = moves_;
    if (same) {
      move_shift(columns);
    } else {
      take_choice();
    }
    EigenResult<T> begun;
    start = start_of_the_next(columns, same, begun);
    const double seconds = again.seconds() - begun.solve_seconds;
    const int steps_of_next = begun.iterations;
    add_counts(begun, result_);
    std::optional<EigenResult<T>> next = go_on_from(std::move(start), steps_of_next);
    if (!next) {
      follower_.forget();  // vectors that were found went with the attempt
      continue;
    }
    next->setup_seconds += seconds;
    count_in(result_, *next);
    EigenResult<T> before = std::exchange(result_, std::move(*next));
    if (!is_ahead(best, before, config.options.which)) best = std::move(before);
  }
  if (is_ahead(best, result_, config.options.which)) take_pairs(best, result_);
  if (!stopped_ && held()) {
    result_.limitation = Limitation::precision;
    result_.remark = held_by_constraints_remark;
  }
  put_in_order(space_, result_, config.options.which);  // copies that came late may stand last
  return std::move(result_);
}

template EigenResult<float> iterate(BlockSpace<float>&, Problem<float>&, const EigenSolver<float>&,
                                    const DenseBlock<float>&, DenseBlock<float>, const LobpcgOptions&,
                                    const Observer&, const Proceed&, Checkpoint*);
template EigenResult<double> iterate(BlockSpace<double>&, Problem<double>&, const EigenSolver<double>&,
                                     const DenseBlock<double>&, DenseBlock<double>, const LobpcgOptions&,
                                     const Observer&, const Proceed&, Checkpoint*);
template class EigenWays<float>;
template class EigenWays<double>;

}  // namespace block_eigs
