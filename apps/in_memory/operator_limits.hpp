#pragma once

#include <fmt/format.h>

#include "apps/config/config.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

/// Throws InputError where a preconditioner is asked for that is made from the entries of a matrix: of an operator
/// nobody knows these. Not collective, the same on all ranks.
inline void require_no_entries(const PreconditionerConfig& preconditioner) {
  require(
      preconditioner.type == PreconditionerType::none || preconditioner.type == PreconditionerType::automatic,
      fmt::format("preconditioner: {} is made from the entries of a matrix; with an operator, give one, or none",
                  name_of(preconditioner.type)));
}

}  // namespace block_eigs
