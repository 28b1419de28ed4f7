#pragma once

#include "spmm/matrix/csr_rows.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// A and B are at work as 2^a A and 2^b B, which changes no digit; zeros where they are as they were read. Squares
/// of their entries, and what a residual has of these, stay within the range of the arithmetic so.
struct Scaling {
  int a = 0;
  int b = 0;  ///< even: eigenvectors are scaled by 2^(b/2)
  bool any() const { return a != 0 || b != 0; }
};

/// Exponent that brings `largest`, the largest entry of a matrix, into 1 .. 2, or into 1 .. 4 where it is to be
/// `even`; 0 where the entry is safe as it is, 2^-40 .. 2^40, or zero. Where numbers are at work `in_float`, the
/// squares of small residuals vanish earlier: safe is 2^-20 .. 2^40.
int scaling_exponent(double largest, bool in_float, bool even);

/// Multiplies the rows by a power of two as scaling_exponent finds it for the largest entry of all ranks; returns
/// the exponent. Collective.
int scale_rows(const Communicator& comm, CsrRows& rows, bool in_float, bool even);

/// The same with a known exponent. Not collective.
void scale_rows(CsrRows& rows, int exponent);

/// Throws InputError where eigenvalues of the problem would leave the range of double, or vectors of it that of
/// float. Not collective: all ranks know.
void require_range(const Scaling& scaling, bool vectors_in_float);

}  // namespace block_eigs
