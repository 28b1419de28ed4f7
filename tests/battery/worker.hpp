#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/battery/try.hpp"

namespace block_eigs::test {

/// What a battery goes through: try k is that of family k mod families and seed first_seed + k / families.
struct Plan {
  Mode mode = Mode::defaults;
  std::vector<int> families;  ///< places in families()
  std::uint64_t first_seed = 1;
  long tries = 0;
  double seconds = 0.0;   ///< no try begins later; 0 for no limit
  double try_limit = 60;  ///< seconds after which a try counts as hanging
  std::vector<std::string> overrides;
};

const Family& family_of(const Plan& plan, long index);
std::uint64_t seed_of(const Plan& plan, long index);

/// The part of a plan that one process (or one mpirun) goes through.
struct Share {
  long first = 0;
  long step = 1;
  std::string results;  ///< file that gets a line when a try begins, and one when it is done
};

/// Goes through tries first, first + step and so on, on all ranks of MPI_COMM_WORLD. Errors of a try are its
/// result; where they leave ranks at different places, the job ends.
void work(const Plan& plan, const Share& share);

}  // namespace block_eigs::test
