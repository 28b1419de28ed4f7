#include "solver/multigrid/aggregation/tentative.hpp"

#include <cmath>

namespace block_eigs::aggregation {

namespace {

/// Nodes of every aggregate, one aggregate after the other.
SparseRows<LocalIndex> members_of(const Aggregates& aggregates) {
  SparseRows<LocalIndex> members;
  members.offsets.assign(static_cast<std::size_t>(aggregates.count) + 1, 0);
  for (const LocalIndex a : aggregates.of_node) {
    if (a >= 0) ++members.offsets[static_cast<std::size_t>(a) + 1];
  }
  for (std::size_t a = 1; a < members.offsets.size(); ++a) members.offsets[a] += members.offsets[a - 1];
  members.columns.resize(static_cast<std::size_t>(members.offsets.back()));
  std::vector<Offset> next(members.offsets.begin(), members.offsets.end() - 1);
  for (std::size_t node = 0; node < aggregates.of_node.size(); ++node) {
    const LocalIndex a = aggregates.of_node[node];
    if (a < 0) continue;
    members.columns[static_cast<std::size_t>(next[static_cast<std::size_t>(a)]++)] = static_cast<LocalIndex>(node);
  }
  return members;
}

/// Gram-Schmidt, each column twice: q becomes orthonormal, r (upper triangular, row-major) with q_old = q r.
void orthonormalise(std::vector<double>& q, std::size_t modes, double* r) {
  constexpr double dependent = 1e-8;
  const std::size_t rows = q.size() / modes;
  for (std::size_t j = 0; j < modes; ++j) {
    double before = 0.0;
    for (std::size_t i = 0; i < rows; ++i) before += q[i * modes + j] * q[i * modes + j];
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t k = 0; k < j; ++k) {
        double dot = 0.0;
        for (std::size_t i = 0; i < rows; ++i) dot += q[i * modes + k] * q[i * modes + j];
        for (std::size_t i = 0; i < rows; ++i) q[i * modes + j] -= dot * q[i * modes + k];
        r[k * modes + j] += dot;
      }
    }
    double left = 0.0;
    for (std::size_t i = 0; i < rows; ++i) left += q[i * modes + j] * q[i * modes + j];
    const bool keeps = left > dependent * dependent * before;
    const double norm = keeps ? std::sqrt(left) : 0.0;
    for (std::size_t i = 0; i < rows; ++i) q[i * modes + j] = keeps ? q[i * modes + j] / norm : 0.0;
    r[j * modes + j] = norm;
  }
}

}  // namespace

Tentative tentative_interpolation(const Aggregates& aggregates, const NearNullSpace& fine) {
  const auto modes = static_cast<std::size_t>(fine.modes);
  const auto unknowns = static_cast<std::size_t>(fine.unknowns_per_node);
  const SparseRows<LocalIndex> members = members_of(aggregates);
  Tentative result;
  result.values.assign(fine.vectors.size(), 0.0);
  result.coarse.modes = fine.modes;
  result.coarse.unknowns_per_node = fine.modes;
  result.coarse.vectors.assign(static_cast<std::size_t>(aggregates.count) * modes * modes, 0.0);
  on_threads([&](int part, int parts) {
    std::vector<double> q;
    const LocalIndex end = part_begin(aggregates.count, part + 1, parts);
    for (LocalIndex a = part_begin(aggregates.count, part, parts); a < end; ++a) {
      const std::size_t row_values = unknowns * modes;  // of one node, side by side
      q.clear();
      for (std::size_t k = members.begin(a); k < members.end(a); ++k) {
        const double* from = fine.vectors.data() + static_cast<std::size_t>(members.columns[k]) * row_values;
        q.insert(q.end(), from, from + row_values);
      }
      orthonormalise(q, modes, result.coarse.vectors.data() + static_cast<std::size_t>(a) * modes * modes);
      const double* from = q.data();
      for (std::size_t k = members.begin(a); k < members.end(a); ++k, from += row_values) {
        std::copy(from, from + row_values,
                  result.values.data() + static_cast<std::size_t>(members.columns[k]) * row_values);
      }
    }
  });
  return result;
}

}  // namespace block_eigs::aggregation
