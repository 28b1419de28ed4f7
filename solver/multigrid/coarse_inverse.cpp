#include "solver/multigrid/coarse_inverse.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "solver/small/lapack.hpp"

namespace block_eigs {

namespace {

/// The whole matrix on rank 0; nothing elsewhere. Collective.
SmallMatrix gather(const Communicator& comm, const Partition& partition, const CsrRows& rows) {
  std::vector<std::vector<std::int64_t>> places(static_cast<std::size_t>(comm.size()));  // row, column
  std::vector<std::vector<double>> values(places.size());
  comm.collectively([&] {
    for (LocalIndex i = 0; i < rows.rows(); ++i) {
      for (Offset k = rows.row_offsets[static_cast<std::size_t>(i)];
           k < rows.row_offsets[static_cast<std::size_t>(i) + 1]; ++k)
        places[0].insert(places[0].end(), {rows.row_begin + i, rows.columns[static_cast<std::size_t>(k)]});
    }
    values[0] = rows.values;
  });
  places = comm.all_to_all(places);
  values = comm.all_to_all(values);
  SmallMatrix matrix;
  comm.collectively([&] {
    if (!comm.is_root()) return;
    const auto n = static_cast<int>(partition.rows());
    matrix.resize(n, n);
    for (std::size_t rank = 0; rank < values.size(); ++rank) {
      for (std::size_t k = 0; k < values[rank].size(); ++k) {
        const auto i = static_cast<int>(places[rank][2 * k]);
        const auto j = static_cast<int>(places[rank][2 * k + 1]);
        matrix(i, j) += 0.5 * values[rank][k];
        matrix(j, i) += 0.5 * values[rank][k];
      }
    }
  });
  return matrix;
}

/// Powers of two that bring positive diagonal entries to about one; ones where some are not positive.
std::vector<double> unit_scales(const SmallMatrix& matrix) {
  const auto n = static_cast<std::size_t>(matrix.rows());
  std::vector<double> scales;
  for (int i = 0; i < matrix.rows(); ++i) {
    if (!(matrix(i, i) > 0.0)) return std::vector<double>(n, 1.0);
    scales.push_back(std::ldexp(1.0, -std::ilogb(matrix(i, i)) / 2));
  }
  return scales;
}

void scale(SmallMatrix& matrix, const std::vector<double>& scales) {
  for (int j = 0; j < matrix.cols(); ++j) {
    for (int i = 0; i < matrix.rows(); ++i) {
      matrix(i, j) *= scales[static_cast<std::size_t>(i)] * scales[static_cast<std::size_t>(j)];
    }
  }
}

/// Eigenvalues up to `noise` count as zero; where none are expected rows and columns may be of any size.
SmallMatrix invert(SmallMatrix matrix, double noise, double epsilon) {
  const int n = matrix.rows();
  const std::vector<double> scales =
      noise > 0.0 ? std::vector<double>(static_cast<std::size_t>(n), 1.0) : unit_scales(matrix);
  scale(matrix, scales);
  const std::vector<double> values = lapack::symmetric_eigen(matrix);
  double largest = 0.0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  const double zero = std::max(noise, n * std::numeric_limits<double>::epsilon() * largest);
  // In arithmetic with `epsilon` what is much larger than the rest would drown it, and the inverse would not be
  // positive definite.
  const double least = 10.0 * epsilon * largest;
  // Null vectors are as wanted as what comes next to them: without them an eigensolver would find those alone.
  const auto positive = std::upper_bound(values.begin(), values.end(), zero);
  const double lowest = positive != values.end() ? std::max(*positive, least) : 0.0;
  SmallMatrix scaled = matrix;
  for (int j = 0; j < n; ++j) {
    const double value = values[static_cast<std::size_t>(j)];
    double factor = 0.0;
    if (value > zero) factor = 1.0 / std::max(value, least);
    if (std::abs(value) <= zero && lowest > 0.0) factor = 1.0 / lowest;
    for (int i = 0; i < n; ++i) scaled(i, j) *= factor;
  }
  SmallMatrix inverse = lapack::product(scaled, false, matrix, true);
  scale(inverse, scales);
  return inverse;
}

}  // namespace

CsrRows pseudo_inverse(const Communicator& comm, const Partition& partition, const CsrRows& matrix, double noise,
                       double epsilon) {
  SmallMatrix dense = gather(comm, partition, matrix);
  std::vector<std::vector<double>> outgoing(static_cast<std::size_t>(comm.size()));
  comm.collectively([&] {
    if (!comm.is_root()) return;
    const SmallMatrix inverse = invert(std::move(dense), noise, epsilon);
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
  comm.collectively([&] {
    for (LocalIndex i = 0; i < partition.size(comm.rank()); ++i) {
      for (GlobalIndex j = 0; j < partition.rows(); ++j) own.columns.push_back(j);
      own.row_offsets.push_back(static_cast<Offset>(own.columns.size()));
    }
  });
  return own;
}

}  // namespace block_eigs
