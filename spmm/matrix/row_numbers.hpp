#pragma once

#include <cstdint>
#include <vector>

#include "spmm/matrix/csr_rows.hpp"

namespace block_eigs {

/// What solvers ask of a matrix, of one rank's rows in host memory.
struct RowNumbers {
  std::vector<double> diagonal;
  double norm_inf = 0.0;
  std::int64_t exponents = 0;  ///< sum of the binary exponents of sum_j |a_ij|, of rows that are not zero
  std::int64_t rows = 0;       ///< these
  double scaled_gershgorin = 0.0;
  double largest_diagonal = 0.0;
  double least_sound = 0.0;  ///< max_i r_i^2 / |d_i|, r_i the largest entry beside d_i; infinite where d_i = 0
};

/// Not collective. The diagonal entry of a row is the one whose column is its global number.
RowNumbers row_numbers(const CsrRows& rows);

}  // namespace block_eigs
