#pragma once

#include <memory>
#include <vector>

#include "apps/config/config.hpp"
#include "apps/in_memory/eigen_run.hpp"
#include "io/result/result_file.hpp"
#include "solver/report.hpp"
#include "spmm/parallel/context.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs {

/// A X = F for callers in the same process; F and a first guess are in the config, in memory.
template <class T>
struct LinearInput {
  RunConfig config;
  OperatorInput<T> a;
  std::unique_ptr<LinearOperator<T>> preconditioner;  ///< in place of the config's
  Partition partition;                                ///< how rows are dealt
};

/// What block-solve writes into its file, own rows of the solutions.
template <class T>
struct LinearAnswer {
  SolutionsRecord solutions;
  HistoryRecord history;
  RunRecord run;
  RunNotes notes;
  LocalIndex rows = 0;
  LocalIndex columns = 0;
  std::vector<T> vectors;  ///< rows x columns, row-major
};

/// The journey of block-solve with nothing printed or written. It ends early where `wanted` says no, which is
/// asked after every iteration. Collective; throws Error.
template <class T>
LinearAnswer<T> run_linear_solver(const Context<T>& context, LinearInput<T> input, const Proceed& wanted);

}  // namespace block_eigs
