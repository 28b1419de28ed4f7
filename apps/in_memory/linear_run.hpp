#pragma once

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

/// The journey of block-solve with nothing printed or written. It ends early where `wanted` says no, which is
/// asked after every iteration. Collective; throws Error.
template <class T>
LinearAnswer<T> run_linear_solver(const Context<T>& context, LinearInput<T> input, const Proceed& wanted);

}  // namespace block_eigs
