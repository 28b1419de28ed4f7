#include "solver/multigrid/coarse_inverse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "solver/small/lapack.hpp"

namespace block_eigs {

namespace {

/// The whole matrix on rank 0; nothing elsewhere.
SmallMatrix gather(const Communicator& comm, const Partition& partition, const CsrRows& rows) {
  std::vector<std::vector<double>> outgoing(static_cast<std::size_t>(comm.size()));
  for (LocalIndex i = 0; i < rows.rows(); ++i) {
    for (Offset k = rows.row_offsets[static_cast<std::size_t>(i)];
         k < rows.row_offsets[static_cast<std::size_t>(i) + 1]; ++k) {
      outgoing[0].insert(outgoing[0].end(), {static_cast<double>(rows.row_begin + i),
                                             static_cast<double>(rows.columns[static_cast<std::size_t>(k)]),
                                             rows.values[static_cast<std::size_t>(k)]});
    }
  }
  const auto incoming = comm.all_to_all(outgoing);
  SmallMatrix matrix;
  if (!comm.is_root()) return matrix;
  const auto n = static_cast<int>(partition.rows());
  matrix.resize(n, n);
  for (const std::vector<double>& part : incoming) {
    for (std::size_t k = 0; k < part.size(); k += 3) {
      const int i = static_cast<int>(part[k]);
      const int j = static_cast<int>(part[k + 1]);
      matrix(i, j) += 0.5 * part[k + 2];
      matrix(j, i) += 0.5 * part[k + 2];
    }
  }
  return matrix;
}

SmallMatrix invert(SmallMatrix matrix, double noise) {
  const int n = matrix.rows();
  const std::vector<double> values = lapack::symmetric_eigen(matrix);
  double largest = 0.0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  const double zero = std::max(noise, n * std::numeric_limits<double>::epsilon() * largest);
  SmallMatrix scaled = matrix;
  for (int j = 0; j < n; ++j) {
    const double value = values[static_cast<std::size_t>(j)];
    const double factor = value > zero ? 1.0 / value : 0.0;
    for (int i = 0; i < n; ++i) scaled(i, j) *= factor;
  }
  return lapack::product(scaled, false, matrix, true);
}

}  // namespace

CsrRows pseudo_inverse(const Communicator& comm, const Partition& partition, const CsrRows& matrix, double noise) {
  SmallMatrix dense = gather(comm, partition, matrix);
  std::vector<std::vector<double>> outgoing(static_cast<std::size_t>(comm.size()));
  comm.collectively([&] {
    if (!comm.is_root()) return;
    const SmallMatrix inverse = invert(std::move(dense), noise);
    for (int r = 0; r < comm.size(); ++r) {
      for (GlobalIndex i = partition.begin(r); i < partition.end(r); ++i) {
        // Symmetric: a row is a column.
        const double* row = inverse.column(static_cast<int>(i));
        outgoing[static_cast<std::size_t>(r)].insert(outgoing[static_cast<std::size_t>(r)].end(), row,
                                                     row + inverse.rows());
      }
    }
  });
  CsrRows own;
  own.row_begin = partition.begin(comm.rank());
  own.global_rows = partition.rows();
  own.global_columns = partition.rows();
  own.values = std::move(comm.all_to_all(outgoing)[0]);
  for (LocalIndex i = 0; i < partition.size(comm.rank()); ++i) {
    for (GlobalIndex j = 0; j < partition.rows(); ++j) own.columns.push_back(j);
    own.row_offsets.push_back(static_cast<Offset>(own.columns.size()));
  }
  return own;
}

}  // namespace block_eigs
