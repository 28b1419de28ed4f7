#pragma once

#include <memory>

#include "apps/in_memory/run_answer.hpp"
#include "io/result/result_file.hpp"
#include "solver/report.hpp"
#include "spmm/parallel/context.hpp"

namespace block_eigs {

/// A X = F; F and a first guess are in the config, in memory.
template <class T>
using LinearInput = RunInput<T>;

template <class T>
struct LinearAnswer : RunAnswer<T> {
  SolutionsRecord solutions;
};

/// What a block of right-hand sides comes with.
template <class T>
struct LinearRequest {
  RunConfig config;                                     ///< F and a first guess are in it, in memory
  std::unique_ptr<LinearOperator<T>> preconditioner{};  ///< in place of the config's
  PlaceForVectors<T> place{};
};

/// A matrix A, for A X = F with one block of right-hand sides after another: what was read and made for the first
/// is at work for all that follow. In float A is read anew, since residuals are taken in double at the end of a
/// solve.
template <class T>
class LinearSystem {
 public:
  /// With the preconditioner that `before` has solved with, on the same context, in place of one of its own: the
  /// matrix has changed, and the preconditioner is to stay as it is. `before` then keeps_preconditioner.
  LinearSystem(Context<T> context, std::unique_ptr<MatrixSource> a, Partition partition,
               std::unique_ptr<LinearSystem> before = nullptr);
  LinearSystem(const LinearSystem&) = delete;
  LinearSystem& operator=(const LinearSystem&) = delete;
  ~LinearSystem();

  const Context<T>& context() const { return context_; }
  /// Whether the preconditioner that there is after a solve can serve another matrix whose rows are dealt so. That
  /// of iterations in float cannot: these work with A as the preconditioner has it. Not collective.
  bool keeps_preconditioner(const Partition& partition) const;
  /// Whether the preconditioner is that of another matrix.
  bool has_older_preconditioner() const;
  /// The journey of block-solve with nothing printed or written. Configs may differ from the first one in
  /// tolerance, limits, first guess, and right-hand sides, of which there are as many. It ends early where
  /// `wanted` says no, which is asked after every iteration. After an exception it must not be called again.
  /// Collective; throws Error.
  LinearAnswer<T> solve(LinearRequest<T> request, const Proceed& wanted);
  /// The same for the last time: what is not needed any more is given back on the way.
  LinearAnswer<T> solve_last(LinearRequest<T> request, const Proceed& wanted);

 private:
  struct Made;
  LinearAnswer<T> solve(LinearRequest<T> request, const Proceed& wanted, bool last);

  Context<T> context_;
  Partition partition_;
  std::unique_ptr<Made> made_;
};

/// The journey of block-solve with nothing printed or written. It ends early where `wanted` says no, which is
/// asked after every iteration. Collective; throws Error.
template <class T>
LinearAnswer<T> run_linear_solver(const Context<T>& context, LinearInput<T> input, const Proceed& wanted);

}  // namespace block_eigs
