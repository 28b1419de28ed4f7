#pragma once

#include <functional>
#include <memory>
#include <string>

#include "apps/config/config.hpp"
#include "apps/input/operators.hpp"
#include "apps/input/problem.hpp"

// What `auto` has in common for both solvers: operators that others may take the place of.
namespace block_eigs {

/// Told what is taken instead, and why.
using Announce = std::function<void(const std::string&)>;

/// make_operators; problem.a_rows stay there where `again`, for others to be made of them. Collective; throws as
/// make_operators.
template <class T>
std::unique_ptr<Operators<T>> chosen_operators(Problem<T>& problem, const RunConfig& config,
                                               const PreconditionerConfig& preconditioner, bool in_float,
                                               bool again);

/// The same in the middle of a solve, for the present ones, which must not be there any more: where there is no
/// memory for it, `preconditioner` becomes none. Collective; throws InputError where a preconditioner cannot be
/// made.
template <class T>
std::unique_ptr<Operators<T>> other_operators(Problem<T>& problem, const RunConfig& config,
                                              PreconditionerConfig& preconditioner, bool in_float,
                                              const Announce& announce);

}  // namespace block_eigs
