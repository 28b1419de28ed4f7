#include "apps/journey/inertia_count.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "apps/input/direct.hpp"

namespace block_eigs {

namespace {

double bytes_of(const CsrRows& rows) {
  return static_cast<double>(rows.nonzeros()) * (sizeof(double) + sizeof(GlobalIndex)) +
         static_cast<double>(rows.rows()) * sizeof(Offset);
}

}  // namespace

template <class T>
bool holds_entries(const Problem<T>& problem) {
  const auto held = [](const CsrRows& rows, LocalIndex own) {
    return rows.row_offsets.size() == static_cast<std::size_t>(own) + 1;
  };
  const LocalIndex own = problem.partition.size(problem.context.comm.rank());
  return !problem.context.comm.any(!held(problem.a_rows, own) || (problem.b && !held(problem.b_rows, own)));
}

template <class T>
bool plainly_definite_mass(const Problem<T>& problem) {
  constexpr double above_rounding = 1e-10;
  return problem.b->scaled_gershgorin_bound() < 2.0 - above_rounding;
}

template <class T>
InertiaCount::InertiaCount(Problem<T>& problem, const Sources& sources, Which which, bool patient)
    : upper_(which == Which::largest),
      patient_(patient),
      plainly_definite_(!problem.b || plainly_definite_mass(problem)),
      comm_(problem.context.comm),
      partition_(problem.partition),
      left_out_(problem.lone.values) {
  if (holds_entries(problem)) {
    a_ = &problem.a_rows;
    if (problem.b) b_ = &problem.b_rows;
    analyse_factors(problem);
    factors_ = problem.factorization;
    factors_->serve(inertia_use);
    return;
  }
  own_a_ = sources.a->read(partition_);
  take_out_couplings(problem.held, *own_a_);
  replace_penalties(problem.held, *own_a_);
  scale_rows(*own_a_, problem.scaling.a);
  a_ = &*own_a_;
  if (sources.b) {
    own_b_ = sources.b->read(partition_);
    take_out_couplings(problem.held, *own_b_);
    scale_rows(*own_b_, problem.scaling.b);
    b_ = &*own_b_;
  }
  factors_ = std::make_shared<factors::Factorization>(comm_, *a_, b_, partition_, inertia_use);
}

void InertiaCount::require_definite_mass() const {
  if (b_ == nullptr || plainly_definite_) return;
  const std::int64_t negative = factors::inertia(comm_, *b_, nullptr, partition_, 0.0, inertia_use).below;
  if (negative == 0) return;
  throw IndefiniteMass(fmt::format(
      "mass matrix B is not positive definite, {} of its {} eigenvalues {} negative: A x = lambda B x has other "
      "eigenvalues than those that were looked for",
      negative, partition_.rows(), negative == 1 ? "is" : "are"));
}

double InertiaCount::rounding(double sigma, const std::vector<double>& diagonal) const {
  const std::vector<double> of_a = absolute_sums(*a_);
  const std::vector<double> of_b = absolute_sums(*b_);
  double most = 0.0;
  for (std::size_t i = 0; i < of_a.size(); ++i)
    if (diagonal[i] > 0.0) most = std::max(most, (of_a[i] + std::abs(sigma) * of_b[i]) / diagonal[i]);
  return 10.0 * std::numeric_limits<double>::epsilon() * comm_.max(most);
}

Counted InertiaCount::wanted_side(double sigma) const {
  return wanted_of(
      patient_ ? factors_->factorize(*a_, b_, sigma) : factors_->factorize_as_foreseen(*a_, b_, sigma), sigma);
}

std::optional<Counted> InertiaCount::wanted_side_as_foreseen(double sigma) const {
  try {
    return wanted_of(factors_->factorize_as_foreseen(*a_, b_, sigma), sigma);
  } catch (const OnAllRanks&) {
    return std::nullopt;
  }
}

Counted InertiaCount::wanted_of(const factors::Inertia& inertia, double sigma) const {
  const std::int64_t own = std::count_if(left_out_.begin(), left_out_.end(),
                                         [&](double value) { return upper_ ? value >= sigma : value <= sigma; });
  const std::int64_t least = (upper_ ? inertia.above : inertia.below) - comm_.sum(own);
  return {least, least + inertia.at};
}

double InertiaCount::bytes() const {
  return factors_->size().bytes + (own_a_ ? bytes_of(*own_a_) : 0.0) + (own_b_ ? bytes_of(*own_b_) : 0.0);
}

template bool holds_entries(const Problem<float>&);
template bool holds_entries(const Problem<double>&);
template bool plainly_definite_mass(const Problem<float>&);
template bool plainly_definite_mass(const Problem<double>&);
template InertiaCount::InertiaCount(Problem<float>&, const Sources&, Which, bool);
template InertiaCount::InertiaCount(Problem<double>&, const Sources&, Which, bool);

}  // namespace block_eigs
