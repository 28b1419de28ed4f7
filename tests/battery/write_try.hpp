#pragma once

#include <string>
#include <vector>

#include "tests/battery/worker.hpp"

namespace block_eigs::test {

/// Writes the tries of a plan for other programs: FAMILY_SEED.mtx (Matrix Market), FAMILY_SEED_mass.mtx,
/// FAMILY_SEED.yaml, a config for block-eigs run in `folder`, and tries.csv, which lists them. Throws InputError.
void write_tries(const Plan& plan, const std::string& folder);

}  // namespace block_eigs::test
