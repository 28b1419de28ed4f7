#pragma once

#include <memory>
#include <string>

#include "apps/config.hpp"
#include "apps/problem.hpp"
#include "spmm/linear_operator.hpp"

namespace block_eigs {

/// What `config` asks for, made for A; null where it is none. Refers to problem.a. Collective.
template <class T>
std::unique_ptr<LinearOperator<T>> make_preconditioner(const Problem<T>& problem,
                                                       const PreconditionerConfig& config);

/// "chebyshev of degree 8"
std::string description(const PreconditionerConfig& config);

}  // namespace block_eigs
