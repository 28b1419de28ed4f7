#pragma once

#include "apps/journey/session.hpp"
#include "spmm/error.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// The whole journey of block-eigs, from the config to the result file. Collective; throws Error.
ExitCode run_eigensolver(const Communicator& comm, const Arguments& arguments);

/// The whole journey of block-solve, likewise.
ExitCode run_linear_solver(const Communicator& comm, const Arguments& arguments);

}  // namespace block_eigs
