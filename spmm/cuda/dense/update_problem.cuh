#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "spmm/cuda/dense/update_stream.cuh"
#include "spmm/small_matrix.hpp"

// The host's part of the update kernels: what they are given.
namespace block_eigs::cuda {

inline int pairs_of(LocalIndex cols) { return (cols + 1) / 2; }

template <class View>
int chunks_of(const ViewList<View>& list) {
  int pairs = 0;
  for (const View& view : list) pairs += pairs_of(view.cols);
  return (pairs + chunk_pairs - 1) / chunk_pairs;
}

/// Where the columns of a list stand when each view begins a pair.
template <class View>
std::vector<int> places_of(const ViewList<View>& list) {
  std::vector<int> places;
  int pairs = 0;
  for (const View& view : list) {
    for (int j = 0; j < view.cols; ++j) places.push_back(2 * pairs + j);
    pairs += pairs_of(view.cols);
  }
  return places;
}

/// Blocks of 8 x 8, see UpdateProblem.
template <class T>
void pack(const SmallMatrix& coefficients, const ConstBlockList<T>& in, const BlockList<T>& out, int tiles,
          double* packed) {
  std::fill_n(packed, static_cast<std::size_t>(chunks_of(in)) * static_cast<std::size_t>(tiles) * 64, 0.0);
  const std::vector<int> rows = places_of(in);
  const std::vector<int> columns = places_of(out);
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const double* from = coefficients.column(static_cast<int>(j));
    double* const to = packed + columns[j] / chunk_columns * 64 + columns[j] % chunk_columns * 8;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::ptrdiff_t chunk = rows[i] / chunk_columns;
      to[chunk * tiles * 64 + rows[i] % chunk_columns] = from[i];
    }
  }
}

/// Without coefficients and residual.
template <class T>
UpdateProblem<T> problem_of(const ConstBlockList<T>& in, const BlockList<T>& out) {
  return {DeviceList(in),
          DeviceList(out),
          nullptr,
          chunks_of(in),
          chunks_of(out),
          1,
          has_even_pairs(in),
          has_even_pairs(out),
          {},
          {},
          nullptr,
          nullptr};
}

}  // namespace block_eigs::cuda
