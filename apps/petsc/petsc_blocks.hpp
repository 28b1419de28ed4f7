#pragma once

#include <memory>
#include <string>

#include "apps/config/config.hpp"
#include "apps/in_memory/run_answer.hpp"
#include "io/petsc/bridge/petsc_handles.hpp"
#include "spmm/device/buffer.hpp"
#include "spmm/parallel/context.hpp"

// Vectors and dense matrices of PETSc's on their way into a run in memory and back. Where the run is on a GPU, so
// are the copies that it reads and writes, and what PETSc has on that GPU does not leave it. Not collective;
// throws RunError where PETSc fails.
namespace block_eigs::petsc {

/// A copy of own rows, `rows` of them, as a source for a config.
BlockInput block_input(const Context<double>& context, const std::string& name, LocalIndex rows, _p_Vec* v);
BlockInput block_input(const Context<double>& context, const std::string& name, LocalIndex rows, _p_Mat* m);

/// Where vectors of an answer are put, and from where they go to PETSc.
class AnswerPlace {
 public:
  explicit AnswerPlace(Context<double> context);

  /// For the run; this must outlive it.
  PlaceForVectors<double> place();
  /// Column `column` of the answer's vectors, or all of them.
  void give(const RunAnswer<double>& answer, LocalIndex column, _p_Vec* to) const;
  void give(const RunAnswer<double>& answer, _p_Mat* to) const;

 private:
  ConstBlockView<double> vectors_of(const RunAnswer<double>& answer) const;

  Context<double> context_;
  Buffer<double> memory_{};
};

}  // namespace block_eigs::petsc
