#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "spmm/host/algebra/aggregation.hpp"
#include "spmm/host/algebra/parts.hpp"

namespace block_eigs::host {

namespace {

/// Nodes of every aggregate, ascending, one aggregate after the other.
struct Members {
  Buffer<Offset> offsets;
  Buffer<LocalIndex> nodes;
};

Members members_of(const std::shared_ptr<Device>& device, const AggregateMap& aggregates) {
  const auto nodes = static_cast<LocalIndex>(aggregates.of_node.size());
  const LocalIndex* const of = aggregates.of_node.data();
  Members members{Buffer<Offset>(device, static_cast<std::size_t>(aggregates.count) + 1),
                  Buffer<LocalIndex>(device, aggregates.of_node.size())};
  const auto aggregate_of = [&](LocalIndex node, const auto& visit) {
    if (of[node] >= 0) visit(node, of[node]);
  };
  sort_by_key(nodes, aggregates.count, nodes, members.offsets.data(), aggregate_of,
              [&](Offset at, LocalIndex node, Offset) { members.nodes.data()[at] = node; });
  return members;
}

/// Gram-Schmidt, each column twice: q, row-major [rows][modes], becomes orthonormal, r (upper triangular,
/// row-major) is such that q as it was is q r.
void orthonormalise(std::vector<double>& q, std::size_t modes, double* r) {
  constexpr double dependent = 1e-8;
  const std::size_t rows = q.size() / modes;
  const auto dot = [&](std::size_t k, std::size_t j) {
    double sum = 0.0;
    for (std::size_t i = 0; i < rows; ++i) sum += q[i * modes + k] * q[i * modes + j];
    return sum;
  };
  for (std::size_t j = 0; j < modes; ++j) {
    const double before = dot(j, j);
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t k = 0; k < j; ++k) {
        const double part = dot(k, j);
        for (std::size_t i = 0; i < rows; ++i) q[i * modes + j] -= part * q[i * modes + k];
        r[k * modes + j] += part;
      }
    }
    const double left = dot(j, j);
    const double norm = left > dependent * dependent * before ? std::sqrt(left) : 0.0;
    for (std::size_t i = 0; i < rows; ++i) q[i * modes + j] = norm > 0.0 ? q[i * modes + j] / norm : 0.0;
    r[j * modes + j] = norm;
  }
}

/// The pattern of T.
std::shared_ptr<CsrPattern> tentative_pattern(const std::shared_ptr<Device>& device,
                                              const AggregateMap& aggregates, int unknowns, int modes) {
  auto pattern = std::make_shared<CsrPattern>();
  const auto nodes = static_cast<LocalIndex>(aggregates.of_node.size());
  const LocalIndex* const of = aggregates.of_node.data();
  pattern->rows = nodes * unknowns;
  pattern->columns = aggregates.count * modes;
  pattern->row_offsets = Buffer<Offset>(device, static_cast<std::size_t>(pattern->rows) + 1);
  Offset* const offsets = pattern->row_offsets.data();
  pattern->nonzeros = running_sums(
      pattern->rows, [&](LocalIndex i) { return of[i / unknowns] >= 0 ? modes : 0; }, offsets);
  pattern->column_indices = Buffer<LocalIndex>(device, static_cast<std::size_t>(pattern->nonzeros));
  LocalIndex* const columns = pattern->column_indices.data();
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < pattern->rows; ++i) {
    const LocalIndex first = of[i / unknowns] * modes;
    for (Offset k = offsets[i]; k < offsets[i + 1]; ++k)
      columns[k] = first + static_cast<LocalIndex>(k - offsets[i]);
  }
  return pattern;
}

}  // namespace

TentativeInterpolation tentative(const std::shared_ptr<Device>& device, const AggregateMap& aggregates,
                                 int unknowns, const double* vectors, int modes) {
  const auto width = static_cast<std::size_t>(modes);
  const std::size_t row_values = static_cast<std::size_t>(unknowns) * width;  // of one node, side by side
  const Members members = members_of(device, aggregates);
  auto pattern = tentative_pattern(device, aggregates, unknowns, modes);
  TentativeInterpolation result;
  result.interpolation.values = Buffer<double>(device, static_cast<std::size_t>(pattern->nonzeros));
  result.coarse = Buffer<double>(device, static_cast<std::size_t>(aggregates.count) * width * width);
  for_parts(aggregates.count, [&](LocalIndex begin, LocalIndex end) {
    std::vector<double> q;
    for (LocalIndex a = begin; a < end; ++a) {
      const auto first = static_cast<std::size_t>(members.offsets.data()[a]);
      const auto last = static_cast<std::size_t>(members.offsets.data()[a + 1]);
      q.clear();
      for (std::size_t k = first; k < last; ++k) {
        const double* from = vectors + static_cast<std::size_t>(members.nodes.data()[k]) * row_values;
        q.insert(q.end(), from, from + row_values);
      }
      double* r = result.coarse.data() + static_cast<std::size_t>(a) * width * width;
      std::fill_n(r, width * width, 0.0);
      orthonormalise(q, width, r);
      for (std::size_t k = first; k < last; ++k)
        std::copy_n(q.data() + (k - first) * row_values, row_values,
                    result.interpolation.values.data() +
                        pattern->row_offsets.data()[static_cast<std::size_t>(members.nodes.data()[k]) *
                                                    static_cast<std::size_t>(unknowns)]);
    }
  });
  result.interpolation.pattern = std::move(pattern);
  return result;
}

}  // namespace block_eigs::host
