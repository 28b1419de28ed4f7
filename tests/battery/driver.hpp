#pragma once

#include <string>
#include <vector>

#include "tests/battery/record.hpp"
#include "tests/battery/worker.hpp"

namespace block_eigs::test {

/// How a plan is carried out.
struct Launch {
  std::string program;                 ///< this one
  std::vector<std::string> arguments;  ///< that describe the plan
  int ranks = 1;
  int jobs = 1;  ///< processes (or mpiruns) side by side, each with a share of the tries
};

/// Carries a plan out in processes of their own, which are started anew behind a try that crashes or hangs; such
/// a try is a record like any other. Records come in the order of tries.
std::vector<Record> carry_out(const Plan& plan, const Launch& launch);

}  // namespace block_eigs::test
