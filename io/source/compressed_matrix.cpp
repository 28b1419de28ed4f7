#include "io/source/compressed_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "io/source/check_matrix.hpp"
#include "io/source/csr_scatter.hpp"
#include "io/source/memory_room.hpp"
#include "spmm/error.hpp"
#include "spmm/first_error.hpp"
#include "spmm/large_vectors.hpp"

namespace block_eigs {

namespace {

/// Triplets that are made and sent at a time.
constexpr Offset chunk = Offset{1} << 22;

/// Indices and values of the calling rank's range of the entries.
struct Entries {
  std::vector<GlobalIndex> rows;  ///< of a list of coordinates only
  std::vector<GlobalIndex> indices;
  std::vector<double> values;
};

/// One thread each. What is wrong with the indices is told first, whichever thread finds its error first.
void read_side_by_side(Offset first, Offset count, CompressedEntries source, Entries& own) {
  FirstError of_indices;
  FirstError of_values;
#pragma omp parallel sections
  {
#pragma omp section
    of_indices.run([&] { source.indices.read_alone(first, count, own.indices.data()); });
#pragma omp section
    of_values.run([&] { source.values.read_alone(first, count, own.values.data()); });
  }
  of_indices.rethrow();
  of_values.rethrow();
}

Entries read_entries(const Communicator& comm, Offset first, Offset count, CompressedEntries source) {
  require_memory(comm, 16.0 * static_cast<double>(count),
                 fmt::format("{}: {} elements and their values", source.indices.name(), source.indices.size()));
  Entries own;
  comm.collectively([&] {
    resize_large(own.indices, static_cast<std::size_t>(count));
    resize_large(own.values, static_cast<std::size_t>(count));
  });
  if (source.indices.is_read_alone(first, count) && source.values.is_read_alone(first, count)) {
    comm.collectively([&] { read_side_by_side(first, count, source, own); });
    return own;
  }
  source.indices.read(first, count, own.indices.data());
  source.values.read(first, count, own.values.data());
  return own;
}

/// `first` is the position of indices[0] in the file.
void require_in_range(const std::vector<GlobalIndex>& indices, GlobalIndex limit, Offset first,
                      const std::string& name) {
  std::size_t wrong = indices.size();
#pragma omp parallel for schedule(static) reduction(min : wrong)
  for (std::size_t k = 0; k < indices.size(); ++k) {
    if (indices[k] < 0 || indices[k] >= limit) wrong = std::min(wrong, k);
  }
  if (wrong == indices.size()) return;
  throw InputError(fmt::format("{}: element {} is {}, out of range: indices count from 0 to {}", name,
                               first + static_cast<Offset>(wrong), indices[wrong], limit - 1));
}

/// `own` are the elements of `name` from `first` on.
void require_pointers(const std::vector<Offset>& own, GlobalIndex first, const std::string& name,
                      Offset nonzeros) {
  if (first == 0 && own.front() != 0) {
    throw InputError(fmt::format("{}: starts with {}; it must start with 0", name, own.front()));
  }
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto at = first + static_cast<GlobalIndex>(i);
    if (i > 0 && own[i] < own[i - 1]) {
      throw InputError(fmt::format("{}: is not monotone: element {} is {}, less than {} before it", name, at,
                                   own[i], own[i - 1]));
    }
    if (own[i] < 0 || own[i] > nonzeros) {
      throw InputError(fmt::format("{}: element {} is {}, but there are {} nonzeros", name, at, own[i], nonzeros));
    }
  }
}

/// Makes triplets of the own entries, `make(k)` being the k-th, sends them to their owners and frees `own`.
template <class Make>
CsrRows collect(const Communicator& comm, const Partition& partition, GlobalIndex columns, Entries& own,
                Make&& make, const std::string& name) {
  require_memory(comm, RowCollector::bytes_a_row * partition.size(comm.rank()),
                 fmt::format("{}: {} rows", name, partition.rows()));
  std::optional<RowCollector> collector;
  comm.collectively([&] { collector.emplace(comm, partition, columns); });
  const auto count = static_cast<Offset>(own.indices.size());
  const std::int64_t rounds = comm.max((count + chunk - 1) / chunk);
  std::vector<Triplet> triplets;
  for (std::int64_t round = 0; round < rounds; ++round) {
    comm.collectively([&] {
      for (Offset k = std::min(count, round * chunk); k < std::min(count, (round + 1) * chunk); ++k) {
        triplets.push_back(make(static_cast<std::size_t>(k)));
      }
    });
    collector->add(triplets);
  }
  own = {};
  CsrRows rows;
  comm.collectively([&] {
    rows = collector->finish();
    require_finite(rows, name);
  });
  return rows;
}

}  // namespace

std::vector<Offset> read_pointers(const Communicator& comm, const Partition& partition, ArraySource& pointers,
                                  Offset nonzeros) {
  const GlobalIndex first = partition.begin(comm.rank());
  require_memory(comm, 8.0 * partition.size(comm.rank()),
                 fmt::format("{}: {} elements", pointers.name(), pointers.size()));
  std::vector<Offset> own;
  comm.collectively([&] { resize_large(own, static_cast<std::size_t>(partition.size(comm.rank())) + 1); });
  pointers.read(first, static_cast<Offset>(own.size()), own.data());
  comm.collectively([&] {
    require_pointers(own, first, pointers.name(), nonzeros);
    if (comm.rank() == comm.size() - 1 && own.back() != nonzeros) {
      throw InputError(
          fmt::format("{}: ends with {}, but there are {} nonzeros; its last element must be their number",
                      pointers.name(), own.back(), nonzeros));
    }
  });
  return own;
}

CsrRows read_by_rows(const Communicator& comm, const Partition& partition, GlobalIndex columns,
                     std::vector<Offset> positions, CompressedEntries entries) {
  const Offset first = positions.front();
  Entries own = read_entries(comm, first, positions.back() - first, entries);
  CsrRows rows;
  comm.collectively([&] {
    require_in_range(own.indices, columns, first, entries.indices.name());
    rows.row_begin = partition.begin(comm.rank());
    rows.global_rows = partition.rows();
    rows.global_columns = columns;
    rows.row_offsets = std::move(positions);
    if (first != 0) {
      for (Offset& offset : rows.row_offsets) offset -= first;
    }
    rows.columns = std::move(own.indices);
    rows.values = std::move(own.values);
    sort_rows(rows);
    require_finite(rows, entries.values.name());
  });
  return rows;
}

CsrRows read_by_columns(const Communicator& comm, const Partition& partition, const Partition& column_partition,
                        const std::vector<Offset>& positions, CompressedEntries entries) {
  const Offset first = positions.front();
  Entries own = read_entries(comm, first, positions.back() - first, entries);
  comm.collectively([&] { require_in_range(own.indices, partition.rows(), first, entries.indices.name()); });
  GlobalIndex column = 0;
  const auto make = [&](std::size_t k) {
    while (positions[static_cast<std::size_t>(column) + 1] - first <= static_cast<Offset>(k)) ++column;
    return Triplet{own.indices[k], column_partition.begin(comm.rank()) + column, own.values[k]};
  };
  return collect(comm, partition, column_partition.rows(), own, make, entries.values.name());
}

CsrRows read_coordinates(const Communicator& comm, const Partition& partition, GlobalIndex columns,
                         ArraySource& row_indices, CompressedEntries entries) {
  const Offset first = row_indices.size() * comm.rank() / comm.size();
  const Offset count = row_indices.size() * (comm.rank() + 1) / comm.size() - first;
  Entries own = read_entries(comm, first, count, entries);
  comm.collectively([&] { own.rows.resize(static_cast<std::size_t>(count)); });
  row_indices.read(first, count, own.rows.data());
  comm.collectively([&] {
    require_in_range(own.rows, partition.rows(), first, row_indices.name());
    require_in_range(own.indices, columns, first, entries.indices.name());
  });
  const auto make = [&](std::size_t k) { return Triplet{own.rows[k], own.indices[k], own.values[k]}; };
  return collect(comm, partition, columns, own, make, entries.values.name());
}

}  // namespace block_eigs
