#pragma once

#include <string>

#include "apps/config/config.hpp"
#include "apps/input/problem.hpp"
#include "solver/checkpoint.hpp"

// Whether iterations begin in float where the config does not say so. Results are those of double all the same.
namespace block_eigs {

/// Lets them where that pays: beside a preconditioner that is decided on and costs as little as A, with so many
/// numbers in the columns at work that memory is what iterations wait for, in whose range A is and its rows beside
/// each other, and where there is memory for another A and other columns; and where `checkpoint`, null or not,
/// holds a state in float, which nobody else can go on from. Without effect on a config that says it. Collective.
template <class T>
void begin_in_float_where_it_pays(const Problem<T>& problem, EigensolverConfig& config,
                                  const Checkpoint* checkpoint);
template <class T>
void begin_in_float_where_it_pays(const Problem<T>& problem, GlobalIndex right_hand_sides,
                                  LinearSolverConfig& config);

/// Beside a preconditioner that the caller has made, of which there is none in float.
template <class Config>
void begin_in_double(Config& config) {
  config.inner_precision = Precision::float64;
  config.inner_precision_given = true;
}

/// One line for those who did not ask for float, empty where there is nothing to say.
template <class Config>
std::string float_remark(const Config& config) {
  const bool begins = config.inner_precision == Precision::float32 && !config.inner_precision_given;
  const bool named = config.preconditioner.type != PreconditionerType::automatic &&
                     config.preconditioner.type != PreconditionerType::amg;
  return begins && named ? "iterations begin in float and end in double (inner_precision)" : "";
}

}  // namespace block_eigs
