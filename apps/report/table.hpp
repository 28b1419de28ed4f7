#pragma once

#include <vector>

#include "apps/config/config.hpp"
#include "apps/report/proof.hpp"
#include "apps/report/verification.hpp"
#include "io/result/result_file.hpp"
#include "spmm/device/profile.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// The eigenpairs, one a line, on stdout of rank 0; `exact` adds a column of known eigenvalues where it is not
/// empty. Not collective.
void print_pairs(const Communicator& comm, const Verification& pairs, const std::vector<double>& exact);

/// Below the table: how orthonormal the vectors are, what the error bounds rest on, and what was done to know that
/// no pair was missed. On stdout of rank 0; not collective.
void print_proof(const Communicator& comm, const Verification& pairs, const Proof& proof);

/// The right-hand sides, one a line, on stdout of rank 0. Not collective.
void print_solutions(const Communicator& comm, const SolutionsRecord& solutions);

/// Where the time of a run of `wall_seconds` went: the mean over ranks and the slowest rank; of all of it alone
/// where the profile was never started. Collective.
TimesRecord times_record(const Communicator& comm, Profile& profile, double wall_seconds);

/// On stdout of rank 0; not collective.
void print_times(const Communicator& comm, const TimesRecord& times);
void print_memory(const Communicator& comm, const MemoryRecord& memory);

/// What the eigenvalues are by closed form, where the problem is a generated Laplacian at its lower end; else
/// empty.
std::vector<double> known_eigenvalues(const RunConfig& config);

}  // namespace block_eigs
