#pragma once

#include <optional>

#include "apps/input/preconditioner.hpp"
#include "solver/factors/factorization.hpp"

namespace block_eigs {

/// Analyses A - sigma B for all sigma, once: problem.factorization. Collective; throws InputError where this build
/// cannot, RunError where it fails, on all ranks.
template <class T>
void analyse_factors(Problem<T>& problem);

/// The same for `auto`, which has other ways: nothing where this build cannot, the analysis fails, or there is no
/// memory for what it foresees and for solves of so many columns. Collective.
template <class T>
std::optional<factors::FactorSize> foreseen_factors(Problem<T>& problem, LocalIndex columns);

/// sign (A - sigma B)^-1 by factors, positive definite, as its pivots prove: sigma is the config's shift, or
/// looked for by ShiftSearch beyond the end that is wanted, or next to nothing for a linear system. Needs
/// problem.a_rows and problem.b_rows, and leaves them. Collective; throws InputError where a given sigma is not
/// beyond all eigenvalues or the matrix of a linear system has negative ones, and as analyse_factors, RunError
/// where none was found.
template <class T>
Preconditioner<T> make_direct(Problem<T>& problem, const DirectConfig& config);

/// Factors of A - shift B again for what make_direct made with that shift, after others were made of the same
/// analysis; nothing where there is none. Collective; throws RunError on all ranks.
template <class T>
void factorise_again(Problem<T>& problem, double shift);

}  // namespace block_eigs
