#pragma once

#include <optional>

#include "apps/choice/shift_follower.hpp"
#include "apps/input/problem.hpp"
#include "apps/journey/chosen_operators.hpp"
#include "apps/journey/eigensolve.hpp"
#include "apps/journey/lanczos_start.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "solver/report.hpp"
#include "solver/space/block_space.hpp"
#include "spmm/matrix/dense_block.hpp"

namespace block_eigs {

/// LOBPCG with the operators of `solver`, in two precisions where these say so. Collective; throws as lobpcg does.
template <class T>
EigenResult<T> iterate(BlockSpace<T>& space, Problem<T>& problem, const EigenSolver<T>& solver,
                       const DenseBlock<T>& constraints, DenseBlock<T> initial, const LobpcgOptions& options,
                       const Observer& observer, const Proceed& proceed, Checkpoint* checkpoint = nullptr);

/// Eigenpairs by one way after the other: iterations with one preconditioner until they have come to an end,
/// `auto` expects more of another one, or factors of A - sigma B are wanted at another sigma. Vectors go along
/// from each to the next.
template <class T>
class EigenWays {
 public:
  /// All that is named lives longer than this.
  EigenWays(BlockSpace<T>& space, Problem<T>& problem, EigenSolver<T>& solver, const DenseBlock<T>& constraints,
            const Observer& observer, const Announce& announce, const Proceed& wanted,
            RunCheckpoint* checkpoint = nullptr);

  /// From `initial`, or what the preconditioner has to begin with, or a state of the checkpoint. Once. Collective;
  /// throws as lobpcg does.
  EigenResult<T> solve(DenseBlock<T> initial);

 private:
  Proceed proceed();
  bool held() const;
  double movable_shift() const;
  double movable_shift_of_lobpcg() const;
  bool keeps_best() const;
  bool turns_to_another_way();
  void take_choice();
  void move_shift(int along);
  void renew_operators(int along);
  bool finish(EigenPairs<T>& pairs, int known);
  EigenPairs<T> pairs_by_lanczos(std::optional<EigenResult<T>>& result, EigenResult<T>& passed);
  LanczosStart<T> start_by_lanczos(EigenResult<T>& passed);
  LanczosStart<T> start_of_the_next(int columns_before, bool same, EigenResult<T>& passed);
  std::optional<EigenResult<T>> go_on_from(LanczosStart<T> start, int steps);
  std::optional<EigenResult<T>> iterate_if_possible(DenseBlock<T> initial, int steps);
  void say(const std::string& what) const;
  void resume();

  BlockSpace<T>& space_;
  Problem<T>& problem_;
  EigenSolver<T>& solver_;
  const DenseBlock<T>& constraints_;
  const Observer& observer_;
  const Announce& announce_;
  const Proceed& wanted_;
  RunCheckpoint* checkpoint_;
  ShiftFollower follower_;
  bool stopped_ = false;  ///< by `wanted`
  bool moves_ = false;    ///< to another sigma
  EigenResult<T> result_;
};

}  // namespace block_eigs
