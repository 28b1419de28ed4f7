#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "apps/config/config.hpp"
#include "apps/input/preconditioner.hpp"
#include "apps/input/problem.hpp"
#include "solver/lobpcg/lobpcg_mixed.hpp"

namespace block_eigs {

/// A and its preconditioner once more in float.
struct FloatCopy {
  Problem<float> problem;
  Preconditioner<float> preconditioner{};
};

/// What iterations work with beside the A and B of a Problem, which they refer to.
template <class T>
struct Operators {
  Preconditioner<T> preconditioner{};
  std::unique_ptr<FloatCopy> float_copy{};  ///< null where none is needed, or the preconditioner's levels serve
  FloatOperators in_float{};                ///< for iterations in float; nulls where there are none
  std::string unfit{};  ///< why there are no factors, where A turned out not to be fit for them

  /// A preconditioner that others have made, of which there is none in float: iterations are in double from their
  /// start.
  void take(std::unique_ptr<LinearOperator<T>> others);

  /// Device memory of the calling rank that all of it holds.
  std::size_t bytes() const;
  /// What it takes beside that once it is applied to blocks of `cols` columns.
  std::size_t work_bytes(LocalIndex cols) const;
  /// See LinearOperator: of the preconditioner, in both precisions.
  void limit_work_space(LocalIndex columns);
};

/// How A must be read so that make_operators can do its work; `in_float` says whether iterations run in float
/// under results in double. Collective; throws InputError where the unknowns of a node do not fit `rows`.
template <class T>
ReadOptions read_options(const Context<T>& context, const RunConfig& config,
                         const PreconditionerConfig& preconditioner, bool in_float, GlobalIndex rows);

/// The preconditioner of A, and A and the preconditioner in float where `in_float` asks for them (T = double).
/// Consumes problem.a_rows. Collective; throws InputError where a preconditioner cannot be made.
template <class T>
Operators<T> make_operators(Problem<T>& problem, const RunConfig& config,
                            const PreconditionerConfig& preconditioner, bool in_float);

}  // namespace block_eigs
