#include <utility>

#include "spmm/cuda/algebra/lanes.cuh"
#include "spmm/cuda/algebra/operations.hpp"
#include "spmm/cuda/algebra/scan.hpp"

namespace block_eigs::cuda {

namespace {

/// The rows of one aggregate, [rows][modes], as they lie among the values of T: node after node.
struct Factor {
  const std::uint32_t* nodes;
  Offset count;
  const Offset* row_offsets;  ///< of T
  double* values;
  int unknowns;
  int modes;

  template <class Row>
  __device__ void each_row(const Row& row) const {
    for (Offset n = 0; n < count; ++n) {
      double* first = values + row_offsets[static_cast<std::int64_t>(nodes[n]) * unknowns];
      for (int u = 0; u < unknowns; ++u) row(first + u * modes);
    }
  }
  __device__ double dot(int k, int j) const {
    double sum = 0.0;
    each_row([&](const double* row) { sum += row[k] * row[j]; });
    return sum;
  }

  /// Gram-Schmidt, each column twice: this becomes orthonormal, r (upper triangular, row-major) is such that it
  /// was this times r.
  __device__ void orthonormalise(double* r) const {
    constexpr double dependent = 1e-8;
    for (int j = 0; j < modes; ++j) {
      const double before = dot(j, j);
      for (int pass = 0; pass < 2; ++pass) {
        for (int k = 0; k < j; ++k) {
          const double part = dot(k, j);
          each_row([&](double* row) { row[j] -= part * row[k]; });
          r[k * modes + j] += part;
        }
      }
      const double left = j > 0 ? dot(j, j) : before;
      const double norm = left > dependent * dependent * before ? sqrt(left) : 0.0;
      each_row([&](double* row) { row[j] = norm > 0.0 ? row[j] / norm : 0.0; });
      r[j * modes + j] = norm;
    }
  }
};

}  // namespace

TentativeInterpolation tentative(const Gpu& gpu, const AggregateMap& aggregates, int unknowns,
                                 const double* vectors, int modes) {
  const auto nodes = static_cast<std::int64_t>(aggregates.of_node.size());
  const std::int64_t rows = nodes * unknowns;
  const LocalIndex* of = aggregates.of_node.data();
  auto pattern = std::make_shared<CsrPattern>();
  pattern->rows = static_cast<LocalIndex>(rows);
  pattern->columns = aggregates.count * modes;
  Buffer<LocalIndex> lengths(gpu, static_cast<std::size_t>(rows));
  for_each(*gpu, rows, [of, lengths = lengths.data(), unknowns, modes] __device__(std::int64_t row) {
    lengths[row] = of[row / unknowns] >= 0 ? modes : 0;
  });
  pattern->row_offsets = offsets_of(gpu, lengths.data(), rows);
  gpu->copy_to_host(&pattern->nonzeros, pattern->row_offsets.data() + rows, sizeof(Offset), Queue::compute);
  gpu->synchronize(Queue::compute);
  pattern->column_indices = Buffer<LocalIndex>(gpu, static_cast<std::size_t>(pattern->nonzeros));
  Buffer<double> values(gpu, static_cast<std::size_t>(pattern->nonzeros));
  const Offset* offsets = pattern->row_offsets.data();
  for_each(*gpu, rows * modes,
           [of, offsets, columns = pattern->column_indices.data(), values = values.data(), vectors, unknowns,
            modes] __device__(std::int64_t item) {
             const std::int64_t row = item / modes;
             const auto mode = static_cast<LocalIndex>(item % modes);
             const LocalIndex aggregate = of[row / unknowns];
             if (aggregate < 0) return;
             columns[offsets[row] + mode] = aggregate * modes + mode;
             values[offsets[row] + mode] = vectors[item];
           });
  // Nodes without an aggregate come last.
  const LocalIndex count = aggregates.count;
  Buffer<std::uint32_t> keys(gpu, static_cast<std::size_t>(nodes));
  for_each(*gpu, nodes, [of, keys = keys.data(), count] __device__(std::int64_t node) {
    keys[node] = static_cast<std::uint32_t>(of[node] >= 0 ? of[node] : count);
  });
  const SortedItems members = sort_by_key(gpu, keys.data(), nodes, static_cast<std::uint32_t>(count));
  const Buffer<Offset> firsts = group_offsets(gpu, members.keys, count);
  const std::int64_t width = modes;
  TentativeInterpolation result;
  result.coarse = Buffer<double>(gpu, static_cast<std::size_t>(count * width * width));
  for_each(*gpu, count,
           [members = members.items.data(), firsts = firsts.data(), offsets, values = values.data(),
            coarse = result.coarse.data(), unknowns, modes] __device__(std::int64_t aggregate) {
             double* r = coarse + aggregate * modes * modes;
             for (int k = 0; k < modes * modes; ++k) r[k] = 0.0;
             const Factor factor{members + firsts[aggregate],
                                 firsts[aggregate + 1] - firsts[aggregate],
                                 offsets,
                                 values,
                                 unknowns,
                                 modes};
             factor.orthonormalise(r);
           });
  result.interpolation = {std::move(pattern), std::move(values)};
  return result;
}

}  // namespace block_eigs::cuda
