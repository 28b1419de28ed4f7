#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/config/config.hpp"
#include "io/result/result_file.hpp"
#include "io/source/matrix_source.hpp"
#include "solver/report.hpp"
#include "spmm/matrix/linear_operator.hpp"
#include "spmm/parallel/context.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs {

/// An operator, or the matrix that it is; at most one of them.
template <class T>
struct OperatorInput {
  std::unique_ptr<MatrixSource> matrix;
  std::unique_ptr<LinearOperator<T>> operation;

  bool given() const { return matrix != nullptr || operation != nullptr; }
};

/// What there is to solve, for callers in the same process.
template <class T>
struct EigenInput {
  RunConfig config;  ///< blocks of vectors have BlockInput::in_memory; where matrices come from is of no concern
  OperatorInput<T> a;
  OperatorInput<T> b;                                 ///< nothing given: the identity
  std::unique_ptr<LinearOperator<T>> preconditioner;  ///< in place of the config's
  Partition partition;                                ///< how rows are dealt
};

/// What a run in memory has to say of itself, beside its numbers.
struct RunNotes {
  std::vector<std::string> preconditioner;             ///< what was taken and why, in order
  std::vector<std::pair<std::string, double>> phases;  ///< where the time went, in seconds, of this rank
  std::string advice_reason;                           ///< see Advice
  std::string advice_change;
  std::string advice_other;
};

/// What block-eigs writes into its file: the pairs in its order, own rows of the vectors.
template <class T>
struct EigenAnswer {
  PairsRecord pairs;
  HistoryRecord history;
  RunRecord run;
  RunNotes notes;
  LocalIndex rows = 0;
  LocalIndex columns = 0;
  std::vector<T> vectors;  ///< rows x columns, row-major
};

/// The journey of block-eigs with nothing printed or written. Where A or B is an operator nothing is known of its
/// entries: then there are no checks of them, no preconditioner but the one given, no scaling, and no proof.
/// It ends early where `wanted` says no, which is asked after every iteration. Collective; throws Error.
template <class T>
EigenAnswer<T> run_eigensolver(const Context<T>& context, EigenInput<T> input, const Proceed& wanted);

}  // namespace block_eigs
