#pragma once

#include <functional>

#include "solver/block_cg/block_cg.hpp"

namespace block_eigs {

/// What block CG works with beside A, on the same rows.
template <class T>
struct CgOperators {
  LinearOperator<T>* preconditioner = nullptr;            ///< null is the identity
  LinearOperator<float>* a_float = nullptr;               ///< for rounds in float as in block_cg_mixed, T = double
  LinearOperator<float>* preconditioner_float = nullptr;  ///< the one of these rounds
  bool by_factors = false;  ///< the preconditioner is a factorisation of A, maybe shifted
};

/// Whoever decides which operators are worked with. Asked on all ranks, answers alike on all of them.
template <class T>
struct CgDecisions {
  /// As another block of right-hand sides begins.
  std::function<void()> begin{};
  /// After every iteration: whether to go on with the present operators.
  Proceed proceed{};
  /// After a block that ended for this reason with right-hand sides that are not solved, and whether the present
  /// operators have solved half or more of this or an earlier one: whether there are others to go on with.
  std::function<bool(Limitation, bool have_solved)> change{};
  /// Makes these. Those of before are not used any more when it is called, and may be destroyed. Collective.
  std::function<CgOperators<T>()> make{};
};

/// block_cg with a preconditioner that may be replaced by another on the way: X stays, a new block Krylov space is
/// begun from its residuals. Where A looks singular `change` is asked too (Limitation::precision), because the
/// preconditioner may be to blame, and X begins at zero then; an A with p^T A p < 0 is not. It begins at zero too
/// where the next one is made `by_factors`. All that is tried on a block of right-hand sides shares its budget of
/// options.max_iterations. It ends early where `wanted` says no.
/// With a `checkpoint` it goes on from the state that this holds, in place of `initial`, and leaves its own there.
/// Arguments otherwise, result and errors as block_cg's, and what `make` throws. Collective.
template <class T>
BlockCgResult<T> block_cg_adaptive(BlockSpace<T>& space, LinearOperator<T>& a, const CgOperators<T>& operators,
                                   const CgDecisions<T>& decisions, const DenseBlock<T>& f, DenseBlock<T> initial,
                                   const BlockCgOptions& options, const Observer& observer = {},
                                   const Proceed& wanted = {}, Checkpoint* checkpoint = nullptr);

}  // namespace block_eigs
