#pragma once

#include <memory>
#include <string>

#include "apps/config.hpp"
#include "apps/problem.hpp"
#include "spmm/linear_operator.hpp"

namespace block_eigs {

/// Whether make_preconditioner wants A's rows in problem.a_rows.
bool needs_rows(const PreconditionerConfig& config);

/// What `config` asks for, made for A; null where it is none. Refers to problem.a, and consumes problem.a_rows.
/// `matrix` says where A comes from. Collective; throws InputError where it cannot be made.
template <class T>
std::unique_ptr<LinearOperator<T>> make_preconditioner(Problem<T>& problem, const MatrixConfig& matrix,
                                                       const PreconditionerConfig& config);

/// "chebyshev of degree 8"
std::string description(const PreconditionerConfig& config);

}  // namespace block_eigs
