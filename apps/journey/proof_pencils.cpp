#include "apps/journey/proof_pencils.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "apps/journey/null_vectors.hpp"
#include "apps/journey/proof_probe.hpp"
#include "solver/preconditioner/jacobi.hpp"
#include "solver/proof/pencil_probe.hpp"
#include "solver/proof/sum_operator.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// The preconditioner of the solve where it is one of A, else `jacobi`.
template <class T>
LinearOperator<T>* preconditioner_of_a(const SolveSetting<T>& setting, Jacobi<T>& jacobi) {
  LinearOperator<T>* operation = setting.operators.preconditioner.operation.get();
  const bool of_a = operation != nullptr && setting.config.preconditioner.of != PreconditionedMatrix::mass;
  return of_a ? operation : &jacobi;
}

template <class T>
PencilProbeOptions pencil_options(const EigenResult<T>& result, std::uint64_t seed) {
  constexpr int iterations = 40;
  return {.pairs = std::min(static_cast<int>(result.eigenvalues.size()), most_of_pencil),
          .iterations = iterations,
          .seed = seed};
}

/// In the pencil of A and its diagonal, as Jacobi has it.
template <class T>
ProbeResult<T> probe_stiff_rows(const SolveSetting<T>& setting, const EigenResult<T>& result, std::uint64_t seed) {
  DistributedMatrix<T>& a = *setting.problem.a;
  std::vector<double> scale;
  for (const double entry : a.jacobi_diagonal()) scale.push_back(entry != 0.0 ? std::abs(entry) : 1.0);
  Jacobi<T> jacobi(setting.problem.context, scale);
  return probe_pencil<T>(setting.space, {a, setting.problem.b.get()}, found_pairs(setting, result), a, scale,
                         preconditioner_of_a(setting, jacobi), pencil_options(result, seed));
}

/// In the pencil of A + t B and its diagonal, t making both alike, after the vector of ones where rows of A add up
/// to zero.
template <class T>
ProbeResult<T> probe_soft_mass(const SolveSetting<T>& setting, const EigenResult<T>& result, std::uint64_t seed) {
  BlockSpace<T>& space = setting.space;
  DistributedMatrix<T>& a = *setting.problem.a;
  DistributedMatrix<T>& b = *setting.problem.b;
  const ProbeOperators<T> operators{a, &b};
  const FoundPairs<T> found = found_pairs(setting, result);
  if (find_null_vectors(space, a).constant) {
    DenseBlock<T> ones = space.make_block(1);
    space.kernels().fill(ones.view(), 1.0);
    space.clear_left_out(ones.view());
    ProbeResult<T> seen = missed_in_span(space, operators, found, std::move(ones));
    if (seen.missed.cols() > 0) return seen;
  }
  const double t = a.typical_row_sum() / b.typical_row_sum();
  SumOperator<T> sum(space, a, t, b);
  std::vector<double> scale;
  space.comm().collectively([&] {  // entries may have to come from a device
    for (std::size_t i = 0; i < b.diagonal().size(); ++i)
      scale.push_back(std::abs(a.diagonal()[i]) + t * b.diagonal()[i]);
  });
  Jacobi<T> jacobi(setting.problem.context, scale);
  PencilProbeOptions options = pencil_options(result, seed);
  // D-orthogonality to found vectors would keep away from these what is B-orthogonal to them. What is small in
  // both matrices comes first.
  constexpr int more = 2;
  options.beside_found = false;
  options.pairs =
      std::min(static_cast<int>(result.eigenvalues.size()) + setting.constraints.cols() + more, most_of_pencil);
  options.iterations = iterations_for_soft_masses(setting, result);
  return probe_pencil<T>(space, operators, found, sum, scale, preconditioner_of_a(setting, jacobi), options);
}

}  // namespace

template <class T>
bool ends_at_limit(const EigenResult<T>& result) {
  return std::find(result.outcomes.begin(), result.outcomes.end(), Outcome::at_accuracy_limit) !=
         result.outcomes.end();
}

template <class T>
bool hides_soft_masses(const SolveSetting<T>& setting) {
  return setting.config.options.which == Which::smallest && setting.problem.b != nullptr &&
         setting.problem.mass_spread.soft();
}

template <class T>
bool hides_stiff_parts(const SolveSetting<T>& setting, const EigenResult<T>& result) {
  return setting.config.options.which == Which::smallest && ends_at_limit(result) &&
         hides_stiff_rows<T>(*setting.problem.a);
}

template <class T>
int iterations_for_soft_masses(const SolveSetting<T>& setting, const EigenResult<T>& result) {
  constexpr int least = 200;
  return hides_soft_masses(setting) ? std::max(least, result.iterations) : 0;
}

template <class T>
ProbeResult<T> look_in_stiff_rows(const SolveSetting<T>& setting, const EigenResult<T>& result, int round,
                                  Proof& proof) {
  if (!hides_stiff_parts(setting, result)) return {};
  proof.looked_in_other_pencil = true;
  try {
    return probe_stiff_rows(setting, result, probe_seed(setting, round));
  } catch (const OnAllRanks&) {
    // Nothing is promised of this search: rows so unlike that no start vectors are left beside the found ones.
    return {};
  }
}

template <class T>
ProbeResult<T> look_in_other_pencils(const SolveSetting<T>& setting, const EigenResult<T>& result, int round,
                                     Proof& proof) {
  if (hides_soft_masses(setting)) {
    proof.looked_in_other_pencil = true;
    ProbeResult<T> seen = probe_soft_mass(setting, result, probe_seed(setting, round));
    if (seen.missed.cols() > 0) return seen;
  }
  return look_in_stiff_rows(setting, result, round, proof);
}

template bool ends_at_limit(const EigenResult<float>&);
template bool hides_soft_masses(const SolveSetting<float>&);
template bool hides_stiff_parts(const SolveSetting<float>&, const EigenResult<float>&);
template int iterations_for_soft_masses(const SolveSetting<float>&, const EigenResult<float>&);
template ProbeResult<float> look_in_stiff_rows(const SolveSetting<float>&, const EigenResult<float>&, int, Proof&);
template ProbeResult<float> look_in_other_pencils(const SolveSetting<float>&, const EigenResult<float>&, int,
                                                  Proof&);
template bool ends_at_limit(const EigenResult<double>&);
template bool hides_soft_masses(const SolveSetting<double>&);
template bool hides_stiff_parts(const SolveSetting<double>&, const EigenResult<double>&);
template int iterations_for_soft_masses(const SolveSetting<double>&, const EigenResult<double>&);
template ProbeResult<double> look_in_stiff_rows(const SolveSetting<double>&, const EigenResult<double>&, int,
                                                Proof&);
template ProbeResult<double> look_in_other_pencils(const SolveSetting<double>&, const EigenResult<double>&, int,
                                                   Proof&);

}  // namespace block_eigs
