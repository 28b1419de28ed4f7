#pragma once

#include "apps/config/config.hpp"
#include "apps/input/scaling.hpp"
#include "apps/report/verification.hpp"
#include "solver/block_cg/block_cg.hpp"
#include "solver/lobpcg/lobpcg.hpp"

// From the units of A and B as they were read to those of 2^a A and 2^b B, which solvers work with, and back: with
// A' = 2^a A and B' = 2^b B, A x = lambda B x is A' x' = lambda' B' x', where lambda' = 2^(a - b) lambda and
// x' = 2^(-b/2) x has x'^T B' x' = 1, so that residuals are 2^(a - b/2) times as large. All of it is exact, and
// nothing happens where there is no scaling.
namespace block_eigs {

/// An absolute tolerance in the solver's units; relative ones are the same in all.
LobpcgOptions in_scaled_units(LobpcgOptions options, const Scaling& scaling);

/// The shifts of AMG and of a factorisation in the solver's units.
PreconditionerConfig in_scaled_units(PreconditionerConfig config, const Scaling& scaling);

/// An eigenvalue, or a difference of two, in the units of A and B.
double unscaled_value(const Scaling& scaling, double value);

/// Findings, vectors and history of an eigensolve in the units of A and B. Throws NumericalError where an
/// eigenvalue leaves the range of double.
template <class T>
void undo_scaling(const Scaling& scaling, BlockSpace<T>& space, Verification& verified, EigenResult<T>& result);

/// A first guess of the solution of A x = f in the solver's units, 2^-a x.
template <class T>
void scale_initial(const Scaling& scaling, BlockSpace<T>& space, DenseBlock<T>& initial);

/// Solutions X' of A X = F rounded to what 2^a X' can hold, to be verified as they will be: entries below the
/// range of T lose digits. A column that leaves the range, or hardly holds any of its digits there, is zero and
/// not_converged, and the remark says so. Whether numbers may have changed: residuals are to be measured again
/// then. Collective.
template <class T>
bool round_to_units(const Scaling& scaling, BlockSpace<T>& space, BlockCgResult<T>& result);

/// The solutions 2^a X' after round_to_units(); residuals are the same in both units. Collective.
template <class T>
void undo_scaling(const Scaling& scaling, BlockSpace<T>& space, BlockCgResult<T>& result);

}  // namespace block_eigs
