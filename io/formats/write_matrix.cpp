#include "io/formats/write_matrix.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "io/hdf5/hdf5_writer.hpp"

namespace block_eigs {

namespace {

/// Own elements of a distributed list of integers.
struct IntegerPart {
  std::int64_t size = 0;
  std::int64_t first = 0;
  std::span<const std::int64_t> values;
};

void write_integers(const Communicator& comm, Hdf5Writer& file, const std::string& name, const IntegerPart& part,
                    bool narrow) {
  if (!narrow) return file.rows(name, {part.size}, part.first, part.values);
  std::vector<std::int32_t> values;
  comm.collectively([&] { values.assign(part.values.begin(), part.values.end()); });
  file.rows(name, {part.size}, part.first, std::span(values));
}

}  // namespace

void write_matrix(const Communicator& comm, const std::string& path, const std::string& dataset,
                  const CsrRows& rows) {
  const auto counts = comm.all_gather(rows.nonzeros());
  Offset before = 0;
  Offset total = 0;
  for (int r = 0; r < comm.size(); ++r) {
    if (r < comm.rank()) before += counts[static_cast<std::size_t>(r)];
    total += counts[static_cast<std::size_t>(r)];
  }
  // Every rank writes where its rows begin, the last one also where they end.
  const bool is_last = comm.rank() == comm.size() - 1;
  std::vector<std::int64_t> pointers;
  comm.collectively(
      [&] { pointers.assign(rows.row_offsets.begin(), rows.row_offsets.end() - (is_last ? 0 : 1)); });
  for (std::int64_t& pointer : pointers) pointer += before;

  const bool narrow =
      std::max({rows.global_columns, rows.global_rows, total}) <= std::numeric_limits<std::int32_t>::max();
  const std::array<std::int64_t, 2> shape{rows.global_rows, rows.global_columns};
  Hdf5Writer file(comm, path);
  file.group(dataset);
  file.attribute(dataset, "encoding-type", "csr_matrix");
  file.attribute(dataset, "encoding-version", "0.1.0");
  file.attribute(dataset, "shape", std::span<const std::int64_t>(shape));
  file.rows(dataset + "/data", {total}, before, std::span<const double>(rows.values));
  write_integers(comm, file, dataset + "/indices", {total, before, rows.columns}, narrow);
  write_integers(comm, file, dataset + "/indptr", {rows.global_rows + 1, rows.row_begin, pointers}, narrow);
  file.commit();
}

}  // namespace block_eigs
