#include "solver/block_cg/block_cg_adaptive.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "solver/block_cg/bcgrq_best.hpp"
#include "solver/block_cg/bcgrq_checkpoint.hpp"
#include "solver/block_cg/bcgrq_one_by_one.hpp"
#include "solver/block_cg/bcgrq_solvers.hpp"

namespace block_eigs {

namespace {

using bcgrq::BlockSolver;
using bcgrq::Column;
using bcgrq::Iterated;
using bcgrq::note_best;
using bcgrq::Sides;
using bcgrq::solve_each_from_zero;

template <class T>
BlockSolver<T> solver_with(BlockSpace<T>& space, LinearOperator<T>& a, const CgOperators<T>& operators,
                           double tolerance, LocalIndex width, bool float_is_extra) {
  if constexpr (std::is_same_v<T, double>) {
    if (operators.a_float != nullptr) {
      return bcgrq::mixed_solver(space, a, operators.preconditioner, *operators.a_float,
                                 operators.preconditioner_float, tolerance, width, float_is_extra);
    }
  }
  return bcgrq::plain_solver(space, a, operators.preconditioner, tolerance, width);
}

template <class T>
std::ptrdiff_t undone(const Sides<T>& sides) {
  return std::count_if(sides.columns.begin(), sides.columns.end(),
                       [](const Column& column) { return column.outcome == Outcome::not_converged; });
}

template <class T>
bool mostly_solved(const Sides<T>& sides) {
  return 2 * undone(sides) <= std::ssize(sides.columns);
}

/// Why a block ended with right-hand sides undone, or before it had gained what it may; none where there is
/// nothing that others could do better.
template <class T>
Limitation limitation_of(const Sides<T>& sides, bool stopped) {
  const bool may_gain = stopped && std::any_of(sides.columns.begin(), sides.columns.end(),
                                               [](const Column& column) { return column.may_gain; });
  if ((undone(sides) == 0 && !may_gain) || sides.findings.indefinite_matrix) return Limitation::none;
  if (stopped) return Limitation::stopped;
  switch (sides.findings.end) {
    case BlockCgEnd::out_of_iterations:
      return Limitation::iterations;
    case BlockCgEnd::indefinite_preconditioner:
      return Limitation::preconditioner;
    default:
      return Limitation::precision;
  }
}

/// The sides as they begin anew, from the X that there is, or from zero where this X is in doubt: along null
/// vectors it may have grown without bound. For factors X is not worth its rounding errors: what it holds along
/// vectors that A nearly maps to nothing is unknown, and may hide from them which sides have a solution. The best
/// iterates stay known.
template <class T>
void begin_again(BlockSpace<T>& space, Sides<T>& sides, bool by_factors) {
  const BlockCgEnd end = sides.findings.end;
  sides.starts_at_zero = by_factors || sides.findings.singular_matrix || end == BlockCgEnd::too_large ||
                         end == BlockCgEnd::beyond_range;
  if (sides.starts_at_zero) {
    if (sides.best.known) note_best(space, sides);
    space.kernels().fill(sides.x, 0.0);
  }
  for (Column& column : sides.columns) {
    Column fresh;
    fresh.rhs_norm = column.rhs_norm;
    fresh.share = column.share;
    fresh.iterations = column.iterations;
    fresh.best_norm = column.best_norm;
    fresh.best_settled = column.best_settled;
    column = fresh;
  }
  sides.findings = {};
  sides.remark.clear();
}

/// Ways that find A singular, or a solution too large, before that is believed: a preconditioner may be to blame.
constexpr int trusted = 2;

bool any_given_up(const std::vector<Column>& columns) {
  return std::any_of(columns.begin(), columns.end(), [](const Column& column) { return column.unsolvable; });
}

/// How an earlier way ended by itself: its word counts where a later one calls A singular, which A need not be
/// then.
struct Verdict {
  BlockCgFindings findings{};
  std::string remark{};
};

/// The present operators with the solver that uses them, and what one block of right-hand sides goes through.
template <class T>
struct Adaptive {
  BlockSpace<T>& space;
  LinearOperator<T>& a;
  const CgDecisions<T>& decisions;
  double tolerance;
  LocalIndex width;
  bool float_is_extra;
  BlockSolver<T> present{};
  bool by_factors = false;  ///< CgOperators::by_factors of what is present
  bool goes_on = true;      ///< what was said after the last iteration
  bool has_solved = false;  ///< half of a block or more, with the present operators

  void use(const CgOperators<T>& operators) {
    present = solver_with(space, a, operators, tolerance, width, float_is_extra);
    by_factors = operators.by_factors;
  }

  void solve(Sides<T>& sides, Budget& budget, const Iterated& iterated) {
    const bool resumes = sides.saving != nullptr && sides.saving->resumes;
    if (decisions.begin && !resumes) decisions.begin();
    std::optional<Verdict> earlier;
    int singular = 0;   // ways that have found A to be so
    int too_large = 0;  // and a solution, beside its right-hand side
    for (;;) {
      const Limitation limitation = attempt(sides, budget, iterated);
      if (limitation != Limitation::none && sides.findings.singular_matrix && ++singular < trusted && earlier) {
        sides.findings = earlier->findings;
        sides.remark = earlier->remark;
      }
      if (limitation != Limitation::none && sides.findings.end == BlockCgEnd::too_large) ++too_large;
      if (limitation == Limitation::none || budget.exhausted() || std::max(singular, too_large) >= trusted) return;
      if (!decisions.change || !decisions.change(limitation, has_solved)) return;
      if (limitation != Limitation::stopped && !sides.findings.singular_matrix && !earlier)
        earlier = Verdict{sides.findings, sides.remark};
      present = {};
      has_solved = false;
      const CgOperators<T> next = decisions.make();
      use(next);
      begin_again(space, sides, by_factors);
    }
  }

 private:
  Limitation attempt(Sides<T>& sides, Budget& budget, const Iterated& iterated) {
    bool stopped = false;
    present.solve(sides, budget, [&](LocalIndex directions) {
      const bool wanted = iterated(directions);
      // What is known to have no solution does not tell how the others come forward.
      if (!goes_on && !budget.exhausted() && !any_given_up(sides.columns)) stopped = true;
      return wanted && !stopped;
    });
    has_solved = has_solved || mostly_solved(sides);
    const Limitation limitation = limitation_of(sides, stopped);
    const bool may_be_the_block = limitation == Limitation::precision || limitation == Limitation::preconditioner;
    if (!by_factors || !may_be_the_block || sides.count() < 2 || budget.exhausted()) return limitation;
    const bool explained = solve_each_from_zero(space, sides, budget, present, iterated);
    has_solved = has_solved || explained || mostly_solved(sides);
    return limitation_of(sides, false);
  }
};

}  // namespace

template <class T>
BlockCgResult<T> block_cg_adaptive(BlockSpace<T>& space, LinearOperator<T>& a, const CgOperators<T>& operators,
                                   const CgDecisions<T>& decisions, const DenseBlock<T>& f, DenseBlock<T> initial,
                                   const BlockCgOptions& options, const Observer& observer, const Proceed& wanted,
                                   Checkpoint* checkpoint) {
  const auto began = Budget::Clock::now();
  bcgrq::check_arguments(space, f, initial, options);
  const LocalIndex width = std::min<LocalIndex>(options.block_size, f.cols());
  Adaptive<T> adaptive{space, a, decisions, options.tolerance, width, options.float_is_extra};
  adaptive.use(operators);
  const Observer listening = [&](const IterationReport& report) {
    if (observer) observer(report);
    adaptive.goes_on = !decisions.proceed || decisions.proceed(report);
  };
  const BlockSolver<T> solver{
      [&](Sides<T>& sides, Budget& budget, const Iterated& iterated) { adaptive.solve(sides, budget, iterated); },
      [&](Sides<T>& sides) { adaptive.present.measure(sides); }, true};
  return bcgrq::solve_in_blocks<T>(space, f, std::move(initial), options, {listening, wanted, checkpoint}, began,
                                   solver);
}

template BlockCgResult<float> block_cg_adaptive(BlockSpace<float>&, LinearOperator<float>&,
                                                const CgOperators<float>&, const CgDecisions<float>&,
                                                const DenseBlock<float>&, DenseBlock<float>, const BlockCgOptions&,
                                                const Observer&, const Proceed&, Checkpoint*);
template BlockCgResult<double> block_cg_adaptive(BlockSpace<double>&, LinearOperator<double>&,
                                                 const CgOperators<double>&, const CgDecisions<double>&,
                                                 const DenseBlock<double>&, DenseBlock<double>,
                                                 const BlockCgOptions&, const Observer&, const Proceed&,
                                                 Checkpoint*);

}  // namespace block_eigs
