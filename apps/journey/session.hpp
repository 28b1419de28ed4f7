#pragma once

#include <functional>
#include <string>
#include <vector>

#include "spmm/error.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// What the command line asks for, the same for both programs.
struct Arguments {
  std::string program;  ///< "block-eigs"
  bool check = false;
  bool quiet = false;  ///< nothing but errors and warnings
  bool json = false;   ///< nothing on standard output but a summary in JSON
  std::string config;  ///< "-" is standard input
  std::vector<std::string> overrides;
  /// Takes the summary; empty without `json`, and on ranks other than the root.
  std::function<void(const std::string&)> summarise{};

  bool silent() const { return quiet || json; }
};

using Program = std::function<ExitCode(const Communicator&, const Arguments&)>;

/// The whole life of a program: starts MPI, reads the command line, runs `program` on all ranks, ends MPI. Returns
/// the exit code, the same on all ranks. An error is printed once, by one rank: one that all ranks know of ends
/// them in good order; one that the others do not learn of within seconds aborts the job.
int run_session(int argc, char** argv, const std::string& name, const std::string& purpose,
                const Program& program);

}  // namespace block_eigs
