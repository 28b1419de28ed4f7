#pragma once

#include <fmt/format.h>
#include <mpi.h>

#include <cstdio>

#include "apps/bench/command_line.hpp"
#include "spmm/error.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs::bench {

/// What a bench on MPI's ranks is around body(communicator), which reads what `line` fills in: begins MPI and ends
/// it, and an error is one message. The exit code.
template <class Body>
int run_on_ranks(int argc, char** argv, CommandLine& line, const Body& body) {
  MPI_Init(&argc, &argv);
  line.parse(argc, argv);
  int code = 0;
  try {
    body(Communicator(MPI_COMM_WORLD));
  } catch (const RemoteError& error) {
    code = static_cast<int>(error.exit_code());
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    code = static_cast<int>(error.exit_code());
  }
  MPI_Finalize();
  return code;
}

}  // namespace block_eigs::bench
