#pragma once

#include "apps/in_memory/run_answer.hpp"
#include "io/result/result_file.hpp"
#include "solver/report.hpp"
#include "spmm/parallel/context.hpp"

namespace block_eigs {

template <class T>
struct EigenInput : RunInput<T> {
  OperatorInput<T> b;  ///< nothing given: the identity
};

/// What block-eigs writes into its file: the pairs in its order.
template <class T>
struct EigenAnswer : RunAnswer<T> {
  PairsRecord pairs;
};

/// The journey of block-eigs with nothing printed or written. Where A or B is an operator nothing is known of its
/// entries: then there are no checks of them, no preconditioner but the one given, no scaling, and no proof.
/// It ends early where `wanted` says no, which is asked after every iteration. Collective; throws Error.
template <class T>
EigenAnswer<T> run_eigensolver(const Context<T>& context, EigenInput<T> input, const Proceed& wanted);

}  // namespace block_eigs
