#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/config/config.hpp"
#include "apps/report/record.hpp"
#include "io/result/result_file.hpp"
#include "io/source/matrix_source.hpp"
#include "spmm/matrix/dense_block.hpp"
#include "spmm/matrix/linear_operator.hpp"
#include "spmm/parallel/context.hpp"
#include "spmm/parallel/partition.hpp"

// What eigensolves and linear solves for callers in the same process have in common.
namespace block_eigs {

/// An operator, or the matrix that it is; at most one of them.
template <class T>
struct OperatorInput {
  std::unique_ptr<MatrixSource> matrix;
  std::unique_ptr<LinearOperator<T>> operation;

  bool given() const { return matrix != nullptr || operation != nullptr; }
};

/// Memory of the caller's for rows x columns, row-major without padding. Vectors are put there where it is the
/// device's that is at work (Device::can_borrow), else into the answer.
template <class T>
using PlaceForVectors = std::function<T*(LocalIndex rows, LocalIndex columns)>;

/// What there is to solve.
template <class T>
struct RunInput {
  RunConfig config;  ///< blocks of vectors have BlockInput::in_memory; where matrices come from is of no concern
  OperatorInput<T> a;
  std::unique_ptr<LinearOperator<T>> preconditioner;  ///< in place of the config's
  Partition partition;                                ///< how rows are dealt
  PlaceForVectors<T> place;                           ///< where vectors go; none: into the answer
};

/// What a run in memory has to say of itself, beside its numbers.
struct RunNotes {
  std::vector<std::string> preconditioner;  ///< what was taken and why, in order
  std::vector<std::pair<std::string, double>>
      phases;                 ///< where the time of this rank went, in seconds; empty unless profiled
  std::string advice_reason;  ///< see Advice
  std::string advice_change;
  std::string advice_other;
};

/// What the programs write into their files, own rows of the vectors.
template <class T>
struct RunAnswer {
  HistoryRecord history;
  RunRecord run;
  RunNotes notes;
  LocalIndex rows = 0;
  LocalIndex columns = 0;
  std::vector<T> vectors;  ///< rows x columns, row-major; empty where they are in the caller's place
};

/// Puts the block where the caller wants it, complete on return. Collective; throws what `place` does.
template <class T>
void hand_over(const Context<T>& context, const DenseBlock<T>& block, const PlaceForVectors<T>& place,
               RunAnswer<T>& answer);

/// What is said of a run on an operator, of whose entries nothing is known.
template <class T>
RunRecord operator_record(const Context<T>& context, const RunInput<T>& input, const std::string& program,
                          Spent spent);

}  // namespace block_eigs
