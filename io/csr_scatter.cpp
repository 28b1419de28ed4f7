#include "io/csr_scatter.hpp"

#include <algorithm>
#include <utility>

namespace block_eigs {

namespace {

CsrRows assemble(const Partition& partition, int rank, GlobalIndex global_columns,
                 const std::vector<std::vector<std::int64_t>>& positions,
                 const std::vector<std::vector<double>>& values) {
  CsrRows rows;
  rows.row_begin = partition.begin(rank);
  rows.global_rows = partition.rows();
  rows.global_columns = global_columns;
  rows.row_offsets.assign(static_cast<std::size_t>(partition.size(rank)) + 1, 0);
  for (const auto& part : positions) {
    for (std::size_t k = 0; k < part.size(); k += 2) ++rows.row_offsets[static_cast<std::size_t>(part[k] - rows.row_begin) + 1];
  }
  for (std::size_t i = 1; i < rows.row_offsets.size(); ++i) rows.row_offsets[i] += rows.row_offsets[i - 1];
  rows.columns.resize(static_cast<std::size_t>(rows.nonzeros()));
  rows.values.resize(rows.columns.size());
  std::vector<Offset> next(rows.row_offsets.begin(), rows.row_offsets.end() - 1);
  for (std::size_t r = 0; r < positions.size(); ++r) {
    for (std::size_t k = 0; k < values[r].size(); ++k) {
      const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(positions[r][2 * k] - rows.row_begin)]++);
      rows.columns[at] = positions[r][2 * k + 1];
      rows.values[at] = values[r][k];
    }
  }
  sort_rows(rows);
  return rows;
}

}  // namespace

CsrRows scatter_to_owners(const Communicator& comm, const Partition& partition, GlobalIndex global_columns,
                          std::vector<Triplet> triplets) {
  std::vector<std::vector<std::int64_t>> positions(static_cast<std::size_t>(comm.size()));
  std::vector<std::vector<double>> values(positions.size());
  for (const Triplet& t : triplets) {
    const auto owner = static_cast<std::size_t>(partition.owner(t.row));
    positions[owner].push_back(t.row);
    positions[owner].push_back(t.column);
    values[owner].push_back(t.value);
  }
  triplets = {};
  positions = comm.all_to_all(positions);
  values = comm.all_to_all(values);
  return assemble(partition, comm.rank(), global_columns, positions, values);
}

}  // namespace block_eigs
