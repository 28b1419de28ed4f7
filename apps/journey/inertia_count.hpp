#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "apps/config/config.hpp"
#include "apps/input/problem.hpp"
#include "solver/factors/factorization.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

/// B has negative eigenvalues, so that what was solved is no problem of this kind. From counts, which all ranks
/// share.
class IndefiniteMass final : public InputError, public OnAllRanks {
 public:
  using InputError::InputError;
};

/// Who wants the factors.
inline constexpr factors::Use inertia_use{"eigensolver.verify: inertia",
                                          "use verify: probe, which needs no factorisation"};

/// Whether A, and B where there is one, are in host memory still, as what made factors of them left them.
/// Collective.
template <class T>
bool holds_entries(const Problem<T>& problem);

/// Whether Gershgorin's circles prove that B is positive definite; there is one.
template <class T>
bool plainly_definite_mass(const Problem<T>& problem);

/// Eigenvalues on one side of a number. Pivots that are zero but for rounding errors belong to eigenvalues that
/// may be on either side: next to one of a multiplicity in the hundreds there are hundreds of them.
struct Counted {
  std::int64_t least = 0;
  std::int64_t most = 0;  ///< with those that cannot be told from the number
};

/// Counts eigenvalues of the matrices, in the units of the solve, by one factorisation after the other. Takes the
/// rows that the problem holds, and the analysis that was made of them; reads them anew where it holds none.
class InertiaCount {
 public:
  /// All that is named lives longer than this; `patient`: whether factors may outgrow what is foreseen.
  /// Collective; throws RunError where the analysis fails, on all ranks.
  template <class T>
  InertiaCount(Problem<T>& problem, const Sources& sources, Which which, bool patient);
  InertiaCount(const InertiaCount&) = delete;
  InertiaCount& operator=(const InertiaCount&) = delete;

  /// Throws IndefiniteMass where B has negative eigenvalues: what is counted then are no eigenvalues.
  /// Collective.
  void require_definite_mass() const;

  /// What rounding errors of factors of A - sigma B, with B, move eigenvalues by, as an estimate: vectors may lie
  /// where B is small, though those that were found lie elsewhere. `diagonal` is that of own rows of B.
  /// Collective.
  double rounding(double sigma, const std::vector<double>& diagonal) const;

  /// Eigenvalues on the wanted side of sigma, but for those of rows that were left out.
  /// Collective; throws RunError on all ranks where the factorisation fails.
  Counted wanted_side(double sigma) const;
  /// The same by factors as the analysis foresees them; nothing where these fail. Collective.
  std::optional<Counted> wanted_side_as_foreseen(double sigma) const;

  /// That the calling rank takes, with factors.
  double bytes() const;

 private:
  Counted wanted_of(const factors::Inertia& inertia, double sigma) const;

  bool upper_;
  bool patient_;
  bool plainly_definite_ = true;
  Communicator comm_;
  Partition partition_;
  std::vector<double> left_out_;
  std::optional<CsrRows> own_a_{};  ///< where they were read anew
  std::optional<CsrRows> own_b_{};
  const CsrRows* a_ = nullptr;
  const CsrRows* b_ = nullptr;
  std::shared_ptr<factors::Factorization> factors_;
};

}  // namespace block_eigs
