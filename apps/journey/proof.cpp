#include "apps/journey/proof.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "apps/input/stopwatch.hpp"
#include "apps/journey/count_in.hpp"
#include "apps/journey/inertia_count.hpp"
#include "apps/journey/proof_choice.hpp"
#include "apps/journey/proof_inertia.hpp"
#include "apps/journey/proof_probe.hpp"
#include "apps/journey/scaled_units.hpp"
#include "solver/factors/factorization.hpp"
#include "solver/small/lowest_dense_vectors.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

constexpr int most_rounds = 3;

template <class T>
bool all_done(const EigenResult<T>& result, int pairs) {
  return static_cast<int>(result.outcomes.size()) == pairs &&
         std::find(result.outcomes.begin(), result.outcomes.end(), Outcome::not_converged) ==
             result.outcomes.end();
}

/// Goes on from the found pairs and the missed vectors, with as many iterations as any way to the result has.
/// False where the solver fails for all ranks alike; then `result` stays.
template <class T>
bool go_on(const SolveSetting<T>& setting, const ConstBlockView<T>& missed, EigenResult<T>& result) {
  LobpcgOptions options = setting.config.options;
  if (options.max_iterations <= 0) return false;
  const LocalIndex found = result.eigenvectors.cols();
  options.block_size = std::max(options.block_size, found + missed.cols);
  try {
    DenseBlock<T> initial = setting.space.make_block(found + missed.cols);
    setting.space.copy(result.eigenvectors.view(), initial.columns(0, found));
    setting.space.copy(missed, initial.columns(found, missed.cols));
    EigenResult<T> better = setting.solve(std::move(initial), options);
    count_in(result, better);
    result = std::move(better);
    return true;
  } catch (const OnAllRanks&) {
    return false;
  }
}

/// Nobody has asked for a certificate: where none can be had, or fewer pairs are counted than found, there is
/// none.
template <class T>
std::optional<Finding<T>> try_inertia(const SolveSetting<T>& setting, const EigenResult<T>& result, int round,
                                      Proof& proof) {
  const Proof before = proof;
  try {
    Finding<T> finding = look_by_inertia(setting, result, round, proof);
    if (!finding.inaccurate) return finding;
  } catch (const IndefiniteMass&) {
    throw;
  } catch (const OnAllRanks&) {
    // A probe takes less.
  }
  const double taken = proof.memory;
  proof = before;
  proof.memory = std::max(proof.memory, taken);
  give_factors_back(setting);
  return std::nullopt;
}

/// By what `kind` has come to; what cannot be had turns it to a probe.
template <class T>
Finding<T> look_by(Verify& kind, const SolveSetting<T>& setting, const EigenResult<T>& result, int round,
                   Proof& proof) {
  if (kind == Verify::inertia && setting.config.verify == Verify::automatic) {
    std::optional<Finding<T>> finding = try_inertia(setting, result, round, proof);
    if (finding) return std::move(*finding);
    kind = Verify::probe;
  }
  return kind == Verify::inertia ? look_by_inertia(setting, result, round, proof)
                                 : look_by_probe(setting, result, round, proof);
}

/// What fails for all ranks alike takes the proof away, not the result. That B is no mass matrix takes both.
template <class T>
Finding<T> look(Verify& kind, const SolveSetting<T>& setting, const EigenResult<T>& result, int round,
                Proof& proof) {
  try {
    if (kind == Verify::automatic) kind = chosen_proof(setting, result);
    return look_by(kind, setting, result, round, proof);
  } catch (const IndefiniteMass&) {
    throw;
  } catch (const OnAllRanks& error) {
    const auto* known = dynamic_cast<const std::exception*>(&error);
    proof.statement = fmt::format("none, {} failed: {}", proof.made, known != nullptr ? known->what() : "");
    proof.made = "none";
    proof.failed = setting.config.verify == Verify::inertia;
    return {};
  }
}

/// "between 0.1 and 0.2", where inertia has said; else nothing.
std::string place(const Proof& proof) {
  if (std::isnan(proof.missing_to)) return "";
  return std::isnan(proof.missing_from)
             ? fmt::format("before {:.6g}", proof.missing_to)
             : fmt::format("between {:.6g} and {:.6g}", proof.missing_from, proof.missing_to);
}

/// A dense solver computes all values, but none better than to rounding errors of the largest, as a rule: smaller
/// ones than that are in no certain order. Collective.
template <class T>
std::string dense_statement(const SolveSetting<T>& setting, const EigenResult<T>& result) {
  const auto rows = static_cast<double>(setting.space.dimension());
  const auto in_units = [&](double value) { return unscaled_value(setting.problem.scaling, value); };
  const double within = rows * std::numeric_limits<T>::epsilon() * size_of_values(setting);
  const double extent = extent_of(result);
  const std::string known = fmt::format("all eigenvalues were computed, each within {:.1e}", in_units(within));
  if (!all_done(result, setting.config.options.pairs)) return known + "; not all pairs have converged";
  if (!(within > extent)) return known + ": none missed";
  return known + fmt::format(
                     ", which is more than the wanted ones extend over, {:.1e}: others as near to them may "
                     "have been missed",
                     in_units(extent));
}

template <class T>
void search(const SolveSetting<T>& setting, EigenResult<T>& result, Proof& proof) {
  Verify kind = setting.config.verify;
  for (int round = 0;; ++round) {
    const Stopwatch watch;
    const Finding<T> finding = look(kind, setting, result, round, proof);
    proof.seconds += setting.space.comm().max(watch.seconds());
    proof.missing = finding.missing;
    if (finding.missing == 0) return;
    const LocalIndex vectors = finding.vectors.cols();
    const bool better = vectors > 0 && round < most_rounds && go_on(setting, finding.vectors.view(), result);
    if (better && all_done(result, setting.config.options.pairs)) {
      proof.recovered += vectors;
      continue;
    }
    if (better) {
      // They are among the pairs now, which say themselves how far they have come.
      proof.missing = 0;
      proof.statement = fmt::format("{}, {} {} missing; the solve went on from {}, and not all have converged",
                                    proof.made, finding.missing, finding.missing == 1 ? "pair was" : "pairs were",
                                    finding.missing == 1 ? "it" : "them");
      return;
    }
    if (finding.inaccurate) return;
    const std::string where = place(proof);
    proof.statement =
        fmt::format("{}, at least {} {} missing before the last one found{}{}; {}", proof.made, proof.missing,
                    proof.missing == 1 ? "pair is" : "pairs are", where.empty() ? "" : ", the first of them ",
                    where, "more iterations or a larger eigensolver.block_size may find more");
    return;
  }
}

}  // namespace

void require_proof(const Communicator& comm, const EigensolverConfig& config) {
  if (config.verify == Verify::inertia) factors::require_available(comm, inertia_use);
}

template <class T>
Proof prove(const SolveSetting<T>& setting, EigenResult<T>& result) {
  Proof proof;
  const EigensolverConfig& config = setting.config;
  if (config.verify == Verify::residuals) return proof;
  if (config.options.pairs == 0) {
    proof.made = "bounds";
    proof.statement =
        "Gershgorin's circles leave no other eigenvalue before those of rows that stand alone: none missed";
    return proof;
  }
  // Rounding errors of a Cholesky factor may hide values of longer pencils, which a count would find.
  const GlobalIndex rows = setting.space.dimension();
  const bool whole = !setting.problem.b || rows <= most_rows_of_refined_pencils || !factors::available();
  if (config.verify != Verify::inertia && whole &&
      solves_densely(config.options, rows, setting.constraints.cols())) {
    proof.made = "dense";
    proof.statement = dense_statement(setting, result);
    return proof;
  }
  if (setting.space.to_end_early()) {
    proof.made = "none";
    proof.statement = "no search for missed pairs: the run was ended early";
    proof.failed = config.verify == Verify::inertia && all_done(result, config.options.pairs);
    return proof;
  }
  if (!all_done(result, config.options.pairs)) {
    proof.made = "none";
    proof.statement = "no search for missed pairs: not all pairs have converged";
    return proof;
  }
  search(setting, result, proof);
  if (proof.recovered > 0 && proof.missing == 0) {
    const std::string where = place(proof);
    proof.statement +=
        fmt::format("; {} that the first iterations had missed {} among them{}", proof.recovered,
                    proof.recovered == 1 ? "is" : "are", where.empty() ? "" : ", the first " + where);
  }
  return proof;
}

std::string remark_of_all(const std::string& remark, const Proof& proof) {
  return remark.empty() && proof.missing > 0 ? proof.statement : remark;
}

template Proof prove(const SolveSetting<float>&, EigenResult<float>&);
template Proof prove(const SolveSetting<double>&, EigenResult<double>&);

}  // namespace block_eigs
