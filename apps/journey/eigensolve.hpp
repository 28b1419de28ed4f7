#pragma once

#include "apps/config/config.hpp"
#include "apps/input/block_input.hpp"
#include "apps/input/operators.hpp"
#include "apps/input/problem.hpp"
#include "apps/report/proof.hpp"
#include "apps/report/verification.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "solver/report.hpp"
#include "solver/space/block_space.hpp"

// What block-eigs does between reading and writing, for whoever has a config and a problem in memory.
namespace block_eigs {

/// Whether iterations begin in float under a result in double.
template <class T>
bool begins_in_float(const RunConfig& config);

/// The eigenpairs that `config` asks for, by the solver that it describes, from `start` or from what the
/// preconditioner has to begin with; `proof` says what was done to know that none was missed. Collective; throws
/// as lobpcg and prove do.
template <class T>
EigenResult<T> eigensolve(BlockSpace<T>& space, Problem<T>& problem, Operators<T>& operators,
                          const Sources& sources, StartVectors<T> start, const RunConfig& config,
                          const Observer& observer, Proof& proof);

/// Why it ended early, missed pairs included.
inline std::string remark_of_all(const std::string& remark, const Proof& proof) {
  return remark.empty() && proof.missing > 0 ? proof.statement : remark;
}

/// Residuals and bounds of what will be saved, from A and B in double, pairs in order. Collective.
template <class T>
Verification verify_result(BlockSpace<T>& space, Problem<T>& problem, const Sources& sources,
                           const RunConfig& config, EigenResult<T>& result);

}  // namespace block_eigs
