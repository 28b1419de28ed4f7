#pragma once

#include <optional>

#include "spmm/device/sparse_algebra.hpp"

namespace block_eigs {

/// What SparseAlgebra::numbers finds in the rows of one rank at first: largest values.
struct LargestOfRows {
  double norm_inf = 0.0;
  double scaled = 0.0;         ///< s_i / |d_i|, with 1 for d_i = 0
  double interpolation = 0.0;  ///< s_i / max(|d_i|, s_i / 2)
  double diagonal = 0.0;       ///< |d_i|
  double least_sound = 0.0;    ///< r_i^2 / |d_i|, r_i the largest entry beside d_i; infinite where d_i = 0
};

/// Binary exponents of sums of rows: their sum, and of how many rows that are not zero.
struct RowExponents {
  std::int64_t sum = 0;
  std::int64_t rows = 0;
};

/// Writes what these say, over all ranks. Returns whether diagonal entries are to be raised: jacobi_bound is to
/// follow then.
bool take_findings(MatrixNumbers& numbers, const LargestOfRows& largest, const RowExponents& exponents,
                   Neighbourhood& ranks);

/// What the entries of a rank's diagonals are, where they are one number; else 0.
struct ConstantEntries {
  double damped = 0.0;
  double jacobi = 0.0;
};

/// The same for the damped diagonal and the numbers that all entries are; nothing without rows.
void take_damped(MatrixNumbers& numbers, double bound, std::optional<ConstantEntries> own, Neighbourhood& ranks);

}  // namespace block_eigs
