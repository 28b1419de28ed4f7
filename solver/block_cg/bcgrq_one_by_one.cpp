#include "solver/block_cg/bcgrq_one_by_one.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "solver/block_cg/bcgrq_steps.hpp"

namespace block_eigs::bcgrq {

namespace {

/// Iterations that factors are given for one right-hand side: with those of A itself one or two do.
constexpr int enough_beside_factors = 20;

/// Right-hand sides in a row that are found to have no solution before nobody looks for one of the next.
constexpr int most_without_solution = 3;

bool is_done(const Column& column) { return column.outcome != Outcome::not_converged; }

/// Places of the columns, last those that are known to have no solution.
std::vector<std::size_t> likely_first(const std::vector<Column>& columns) {
  std::vector<std::size_t> places(columns.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::stable_partition(places.begin(), places.end(), [&](std::size_t j) { return !columns[j].unsolvable; });
  return places;
}

template <class T>
void note_all_done(Sides<T>& block) {
  block.remark.clear();
  block.findings.end = BlockCgEnd::solved;
  block.findings.singular_matrix = false;
}

/// The right-hand side at place j, from where it came to, or from zero.
template <class T>
Sides<T> alone(BlockSpace<T>& space, const Sides<T>& block, std::size_t j, bool from_zero) {
  Sides<T> one{};
  one.f = block.f.columns(static_cast<LocalIndex>(j), 1);
  one.x = block.x.columns(static_cast<LocalIndex>(j), 1);
  one.starts_at_zero = from_zero;
  if (from_zero) space.kernels().fill(one.x, 0.0);
  one.columns.resize(1);
  one.columns.front().rhs_norm = block.columns[j].rhs_norm;
  one.columns.front().share = block.columns[j].share;
  one.columns.front().iterations = block.columns[j].iterations;
  return one;
}

/// Has `solve` work on the right-hand side at place j by itself, and keeps the better of what the block came to
/// and what comes of it. Returns the latter's columns and findings. `before` is of one column.
template <class T, class Solve>
Sides<T> solve_alone(BlockSpace<T>& space, Sides<T>& block, std::size_t j, bool from_zero, DenseBlock<T>& before,
                     const Solve& solve) {
  Column& column = block.columns[j];
  space.copy(block.x.columns(static_cast<LocalIndex>(j), 1), before.view());
  Sides<T> one = alone(space, block, j, from_zero);
  solve(one);
  Column& now = one.columns.front();
  // What other ways have come to is kept apart, and stays known.
  now.best_norm = column.best_norm;
  now.best_settled = column.best_settled;
  if (is_done(now) || now.true_norm < column.true_norm) {
    column = now;
  } else {
    space.copy(before.view(), one.x);
    column.iterations = now.iterations;
    // From elsewhere than zero the side may only seem to be out of range, or within it.
    if (from_zero) column.unsolvable = now.unsolvable;
  }
  return one;
}

}  // namespace

template <class T>
void solve_one_by_one(BlockSpace<T>& space, Sides<T>& block, const Budget& of_block, const BlockSolver<T>& solver,
                      const IteratedAlone<T>& iterated) {
  BlockCgFindings& findings = block.findings;
  const bool by_rounding = findings.end == BlockCgEnd::at_rounding ||
                           (findings.end == BlockCgEnd::singular_matrix && !solver.confirms_singularity);
  if (block.count() < 2 || !by_rounding || of_block.ended()) return;
  std::vector<Column>& columns = block.columns;
  auto done = static_cast<int>(std::count_if(columns.begin(), columns.end(), is_done));
  bool goes_on = true;
  // What one by itself does not come to, from zero either, is not the block's doing: the others are spared the
  // time. One that has no solution says little of those that may have one, several in a row say enough.
  bool hopeless = false;
  int without_solution = 0;
  DenseBlock<T> before = space.make_block(1);
  for (const std::size_t j : likely_first(columns)) {
    Column& column = columns[j];
    for (const bool from_zero : {false, true}) {
      if (is_done(column) || (column.unsolvable && !from_zero) || hopeless || !goes_on) continue;
      Budget budget = of_block;
      budget.spend(std::max(column.iterations - block.not_counted, 0) - budget.spent());
      solve_alone(space, block, j, from_zero, before, [&](Sides<T>& one) {
        solver.solve(one, budget, [&](LocalIndex) { return goes_on = iterated(one, j, done); });
      });
      if (is_done(column)) {
        ++done;
        without_solution = 0;
      } else if (from_zero) {
        ++without_solution;
        hopeless = !column.unsolvable || without_solution == most_without_solution;
      }
    }
  }
  if (!goes_on) {
    findings.end = BlockCgEnd::stopped;
    block.remark = ended_on_request;
  }
  if (done == static_cast<int>(columns.size())) note_all_done(block);
}

template <class T>
bool solve_each_from_zero(BlockSpace<T>& space, Sides<T>& block, Budget& budget, const BlockSolver<T>& solver,
                          const Iterated& iterated) {
  std::vector<Column>& columns = block.columns;
  DenseBlock<T> before = space.make_block(1);
  bool any_solved = std::any_of(columns.begin(), columns.end(), is_done);
  bool all_explained = true;
  for (std::size_t j = 0; j < columns.size() && !budget.exhausted(); ++j) {
    Column& column = columns[j];
    if (is_done(column)) continue;
    Budget of_one(std::min(enough_beside_factors, budget.left()));
    const Sides<T> tried = solve_alone(space, block, j, true, before, [&](Sides<T>& one) {
      solver.solve(one, of_one, [&](LocalIndex directions) {
        budget.spend();
        const bool wanted = iterated(directions);
        if (budget.exhausted()) of_one.end();
        return wanted;
      });
    });
    any_solved = any_solved || is_done(column);
    all_explained = all_explained && (is_done(column) || column.unsolvable);
    const bool unsolvable = tried.columns.front().unsolvable;
    if (tried.findings.indefinite_matrix || (unsolvable && !block.findings.singular_matrix)) {
      block.findings = tried.findings;
      block.remark = tried.remark;
    }
    if (tried.findings.indefinite_matrix) return false;
  }
  if (std::all_of(columns.begin(), columns.end(), is_done)) {
    note_all_done(block);
  } else if (budget.exhausted()) {
    note_exhausted(block, budget);
  }
  return any_solved && all_explained && !budget.exhausted();
}

template bool solve_each_from_zero(BlockSpace<float>&, Sides<float>&, Budget&, const BlockSolver<float>&,
                                   const Iterated&);
template bool solve_each_from_zero(BlockSpace<double>&, Sides<double>&, Budget&, const BlockSolver<double>&,
                                   const Iterated&);
template void solve_one_by_one(BlockSpace<float>&, Sides<float>&, const Budget&, const BlockSolver<float>&,
                               const IteratedAlone<float>&);
template void solve_one_by_one(BlockSpace<double>&, Sides<double>&, const Budget&, const BlockSolver<double>&,
                               const IteratedAlone<double>&);

}  // namespace block_eigs::bcgrq
