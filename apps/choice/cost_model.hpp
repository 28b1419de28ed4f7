#pragma once

#include "apps/choice/matrix_traits.hpp"
#include "apps/config/config.hpp"
#include "solver/factors/factorization.hpp"
#include "solver/lanczos/lanczos_shape.hpp"
#include "spmm/device/device.hpp"

namespace block_eigs {

/// What steps of a solve cost, in bytes that pass through the memory of the device, all ranks together: numbers
/// that are the same on all ranks and from run to run, unlike times. Host work under a GPU counts as what the GPU
/// would move meanwhile.
struct CostModel {
  double matrix = 0.0;          ///< one pass over A
  double block = 0.0;           ///< one pass over a block of the columns at work
  double mass = 0.0;            ///< one pass over B, 0 without
  double setup_per_byte = 0.0;  ///< of the multigrid set-up, a byte of A
  double least_setup = 0.0;     ///< of the same for the smallest A
  double host = 1.0;            ///< what a byte passing through the memory of the host counts as
  double waiting = 1.0;         ///< likewise, where the device waits for each step of it
  int ranks = 1;                ///< that share the work, or wait for one
  double rows = 0.0;            ///< of A
  double nonzeros = 0.0;        ///< of A or B, whichever has more
  double columns = 1.0;         ///< at work
  double wide_from = 1.0;       ///< columns from which operations on blocks take longer than their passes
  double full_from = 0.0;       ///< likewise products with A, where it is nearly full; else 0
  double of_operation = 0.0;    ///< what a product takes for each nonzero and column beside what it reads
  double dense = 0.0;           ///< all of a dense solver, on one rank while the others wait
  double launches = 0.0;        ///< what the launches of a few kernels on blocks take, however small these are

  /// The same for a block of other columns.
  CostModel with_columns(double other) const;
  double product() const { return pass() + 2.0 * block + arithmetic() + launches; }
  /// One degree of a polynomial in A: a product that takes its step along.
  double degree() const { return pass() + 3.0 * block + arithmetic() + launches; }
  /// One iteration of LOBPCG without its preconditioner.
  double iteration() const;
  /// One iteration of block CG without its preconditioner.
  double cg_iteration() const;
  /// One application; fitted as passes over memory alone.
  double preconditioner(const PreconditionerConfig& config) const;
  /// The dense solver, with so many vectors refined one by one.
  double dense_with_refined(double vectors) const;
  /// What comes before the first application.
  double setup(PreconditionerType type) const;
  /// Of the factors of A - sigma B that an analysis has foreseen, for one sigma.
  double factors(const factors::FactorSize& size) const;
  /// The same with one wrong guess of sigma.
  double factorisation(const factors::FactorSize& size) const;
  /// One application of their inverse to so many columns.
  double substitution(const factors::FactorSize& size, double applied_to) const;
  /// A Lanczos iteration with them, and the check of what has come of it.
  double lanczos(const factors::FactorSize& size, const LanczosOptions& options) const;
  /// The analysis.
  double analysis() const;

 private:
  double pass() const;
  double arithmetic() const;
  double small_problem(double unknowns) const;
};

/// For blocks of `columns`. `mass_nonzeros` is 0 without B; `precision` is the size of a number.
CostModel cost_model(const MatrixTraits& traits, double mass_nonzeros, int columns, double precision,
                     Backend backend, int ranks = 1);

/// Whether blocks of so many columns are narrow enough beside the rows of a device for filters to build a basis on
/// a GPU: its small problems, of several times as many columns, do not shrink with the rows.
bool basis_pays(double rows, int columns);
/// Whether filters of so many columns build a basis on that device, which has so many rows.
bool builds_basis(FilterKind filter, Backend backend, double rows, int columns);

}  // namespace block_eigs
