#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>

#include "apps/config/config.hpp"
#include "apps/input/problem.hpp"
#include "solver/lobpcg/lobpcg_mixed.hpp"
#include "spmm/matrix/dense_block.hpp"
#include "spmm/matrix/linear_operator.hpp"

namespace block_eigs {

/// Whether make_preconditioner wants A's rows in problem.a_rows, or `automatic` may come to want them.
template <class T>
bool needs_rows(const PreconditionerConfig& config);

/// Whether it wants B's, where there is a B, in problem.b_rows.
bool needs_mass_rows(const PreconditionerConfig& config);

/// Whether the levels of multigrid are made of problem.a, which is in double then, without problem.a_rows. Of a
/// matrix in float they are made of these, on the same device.
template <class T>
bool makes_levels_of_matrix(const PreconditionerConfig& config);

/// A preconditioner, and what else it has to offer.
template <class T>
struct Preconditioner {
  std::unique_ptr<LinearOperator<T>> operation{};  ///< null for none
  /// Vectors to start from, own rows of n x at most `columns`; empty where it has none. Collective.
  std::function<DenseBlock<T>(LocalIndex columns, std::uint64_t seed)> start_vectors{};
  FloatOperators in_float{};  ///< A and this preconditioner in float, where it works with them; else nulls
  double shift = std::numeric_limits<double>::quiet_NaN();  ///< sigma of factors of A - sigma B
  bool coarsens = true;  ///< false: multigrid that came to one level, which is no more than its smoother
  std::string made{};    ///< what it came to, where that is not known beforehand: levels
};

/// What `config` asks for, made of A or B. Refers to problem.a and problem.b, and consumes problem.a_rows, but for
/// a factorisation.
/// `matrix` says where A comes from. Collective; throws InputError where it cannot be made.
template <class T>
Preconditioner<T> make_preconditioner(Problem<T>& problem, const MatrixConfig& matrix,
                                      const PreconditionerConfig& config);

/// Whether the eigensolver starts from its vectors: they are of no use at the upper end, or where the config has
/// vectors of its own.
template <class T>
bool starts_from_coarse_levels(const Preconditioner<T>& preconditioner, const EigensolverConfig& config) {
  return preconditioner.start_vectors && !config.initial && config.options.which == Which::smallest;
}

/// "chebyshev of degree 8"
std::string description(const PreconditionerConfig& config);

}  // namespace block_eigs
