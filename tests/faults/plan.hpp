#pragma once

#include <atomic>

#include "tests/faults/callers.hpp"
#include "tests/faults/calls.hpp"

namespace faults {

/// What BLOCK_EIGS_FAULT asks for: FUNCTION:CALLER:K:HOW, such as "read:program:3:EIO". CALLER is program,
/// libraries or factors, K counts from 1, with a + behind it that call and all after it fail; "over" and a number
/// of bytes in place of K: each call of malloc that asks for more. HOW is the name of an errno, a number (of a
/// CUDA error), "short" (half as much as was asked for), "end" (of the file), or "fail".
struct Plan {
  const Call* call = nullptr;  ///< null: only count
  Caller caller = Caller::program;
  long number = 0;
  bool lasting = false;
  long over = -1;  ///< bytes; below 0: all calls count
  int error = 0;   ///< an errno, or what CUDA calls the error
  bool shortened = false;
  bool ended = false;
};

/// Reads it. A plan that cannot be read ends the process with exit code 99: a test of nothing is not to pass.
Plan read_plan();

/// Whether BLOCK_EIGS_FAULT_RANK (all, last, or a number) means this process. Knows ranks as Open MPI tells them.
bool is_this_rank();

/// Adds a line to the file BLOCK_EIGS_FAULT_REPORT with the rank behind it. By system calls alone.
void report(const char* text, long number = -1);

}  // namespace faults
