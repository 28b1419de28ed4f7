#pragma once

#include <cstdint>
#include <string>

#include "apps/config/config.hpp"
#include "spmm/parallel/communicator.hpp"
#include "tests/battery/judge.hpp"
#include "tests/battery/solve_try.hpp"
#include "tests/battery/try.hpp"

// Linear systems A X = F of the battery.
namespace block_eigs::test {

/// A matrix of the family; most that are not positive definite are shifted until they are, by a little or a lot.
/// Those that stay singular get right-hand sides in their range, most of them.
Try make_system(const Family& family, std::uint64_t seed);

/// Goes the way of block-solve. The answer's vectors are X. Collective; throws what it throws.
Answer solve_system(const Communicator& comm, const Try& one, const RunConfig& config);

/// Holds an answer against its system: residuals in double against the limits of docs/config.md. Matrices that are
/// not positive definite are to be solved or named; a definite matrix must not be called anything else.
Verdict judge_system(const Try& one, const Answer& answer, const RunConfig& config, double epsilon);

/// What an error means for a system: refused where the matrix is not positive definite and the message says so.
Verdict judge_system_error(const Try& one, const std::string& message, int exit_code);

}  // namespace block_eigs::test
