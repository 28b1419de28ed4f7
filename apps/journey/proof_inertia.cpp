#include "apps/journey/proof_inertia.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "io/petsc/bridge/petsc_inertia.hpp"

namespace block_eigs {

namespace {

/// The matrices as they were read, for one factorisation after the other.
class Counter {
 public:
  template <class T>
  explicit Counter(const SolveSetting<T>& setting)
      : comm_(setting.space.comm()),
        partition_(setting.problem.partition),
        upper_(setting.config.options.which == Which::largest),
        a_(setting.sources.a->read(partition_)) {
    if (setting.sources.b) b_ = setting.sources.b->read(partition_);
  }

  /// Eigenvalues on the wanted side of sigma; those at sigma count where they are asked for.
  std::int64_t wanted_side(double sigma) const {
    const petsc::Inertia inertia = petsc::inertia(comm_, a_, b_ ? &*b_ : nullptr, partition_, sigma);
    return (upper_ ? inertia.above : inertia.below) + inertia.at;
  }

 private:
  const Communicator& comm_;
  const Partition& partition_;
  bool upper_;
  CsrRows a_;
  std::optional<CsrRows> b_;
};

/// Found pairs before the cluster that the last one belongs to, where values nearer than `apart` are in one.
int before_last_cluster(const std::vector<double>& values, double apart) {
  auto count = static_cast<int>(values.size()) - 1;
  while (count > 0 &&
         std::abs(values[static_cast<std::size_t>(count)] - values[static_cast<std::size_t>(count) - 1]) <= apart)
    --count;
  return count;
}

}  // namespace

template <class T>
Finding<T> look_by_inertia(const SolveSetting<T>& setting, const EigenResult<T>& result, int round, Proof& proof) {
  proof.made = "inertia";
  const std::vector<double>& values = result.eigenvalues;
  const auto pairs = static_cast<std::int64_t>(values.size());
  const bool upper = setting.config.options.which == Which::largest;
  const double outwards = upper ? -1.0 : 1.0;
  const char* side = upper ? "above" : "below";
  const double within =
      known_within(setting.space, probe_operators(setting, result), found_pairs(setting, result));
  const Counter count(setting);

  proof.shift = values.back() + outwards * within;
  proof.counted = count.wanted_side(proof.shift);
  proof.statement = fmt::format("inertia, {} eigenvalues {} {:.10g}, {} found: none missed", proof.counted, side,
                                proof.shift, pairs);
  if (proof.counted == pairs) return {};
  if (proof.counted < pairs) {
    proof.statement = fmt::format(
        "inertia, only {} eigenvalues {} {:.10g}, but {} found: the factorisation or the residuals are "
        "less accurate than they seem",
        proof.counted, side, proof.shift, pairs);
    return {static_cast<int>(pairs - proof.counted), {}};
  }
  // Others as near as that to the last value belong to its cluster, of which any will do.
  const std::int64_t with_cluster = proof.counted;
  const int before = before_last_cluster(values, 4.0 * within);
  proof.shift =
      before == 0
          ? values.front() - outwards * within
          : 0.5 * (values[static_cast<std::size_t>(before) - 1] + values[static_cast<std::size_t>(before)]);
  proof.counted = count.wanted_side(proof.shift);
  proof.statement = fmt::format(
      "inertia, {} eigenvalues {} {:.10g}, {} found: none missed; the last value has {} within {:.1e} of it, of "
      "which {} were asked for",
      proof.counted, side, proof.shift, before, with_cluster - proof.counted, within, pairs - before);
  if (proof.counted == before) return {};
  constexpr int filter_degree = 400;
  constexpr int iterations = 40;
  const ProbeOperators<T> operators = probe_operators(setting, result);
  const bool plain = operators.b == nullptr && operators.preconditioner == nullptr;
  ProbeResult<T> seen = probe_result(setting, result, plain ? filter_degree : iterations, round);
  return {static_cast<int>(std::abs(proof.counted - before)), std::move(seen.missed)};
}

template Finding<float> look_by_inertia(const SolveSetting<float>&, const EigenResult<float>&, int, Proof&);
template Finding<double> look_by_inertia(const SolveSetting<double>&, const EigenResult<double>&, int, Proof&);

}  // namespace block_eigs
