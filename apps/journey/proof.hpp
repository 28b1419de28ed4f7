#pragma once

#include <functional>
#include <string>

#include "apps/config/config.hpp"
#include "apps/input/operators.hpp"
#include "apps/input/problem.hpp"
#include "apps/report/proof.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "solver/space/block_space.hpp"

namespace block_eigs {

/// What a solve worked with, and how to go on with it.
template <class T>
struct SolveSetting {
  BlockSpace<T>& space;
  Problem<T>& problem;
  const Operators<T>& operators;
  const Sources& sources;
  const DenseBlock<T>& constraints;
  const EigensolverConfig& config;
  /// Solves again from vectors.
  std::function<EigenResult<T>(DenseBlock<T> initial, const LobpcgOptions& options)> solve;
  /// What a proof may cost whatever the solve has, in bytes that pass through host memory meanwhile: see
  /// CostModel.
  double granted = 0.0;
};

/// Throws InputError where this build cannot do what config.verify asks for. Collective.
void require_proof(const Communicator& comm, const EigensolverConfig& config);

/// Looks for pairs that `result` misses as config.verify says. Where there are any the solve goes on from these
/// and the pairs found, each time with as many iterations as the config allows a way, and `result` becomes that of
/// both, no more than three times. What is still missing then is counted in the proof. Collective; throws
/// IndefiniteMass where inertia finds that B has negative eigenvalues. What fails else takes the proof away alone.
template <class T>
Proof prove(const SolveSetting<T>& setting, EigenResult<T>& result);

/// Why a solve that ended with `remark` is not done, missed pairs included; empty where it is.
std::string remark_of_all(const std::string& remark, const Proof& proof);

}  // namespace block_eigs
