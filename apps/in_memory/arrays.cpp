#include "apps/in_memory/arrays.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "spmm/error.hpp"
#include "spmm/large_vectors.hpp"
#include "spmm/matrix/csr_rows.hpp"

namespace block_eigs {

namespace {

/// Calls use(data) with the array's numbers in their own type.
template <class Use>
void with_type(const IndexArray& array, const Use& use) {
  if (array.wide) {
    use(static_cast<const std::int64_t*>(array.data));
  } else {
    use(static_cast<const std::int32_t*>(array.data));
  }
}

template <class Use>
void with_type(const ValueArray& array, const Use& use) {
  if (array.wide) {
    use(static_cast<const double*>(array.data));
  } else {
    use(static_cast<const float*>(array.data));
  }
}

void require_offsets(const std::string& name, const RowArrays& rows) {
  const IndexArray& offsets = rows.row_offsets;
  const auto nonzeros = static_cast<GlobalIndex>(rows.column_numbers.size);
  require(offsets.size >= 1 && offsets[0] == 0, fmt::format("{}: row offsets (indptr) must begin with 0", name));
  with_type(offsets, [&](const auto* first) {
    const auto* const last = first + offsets.size;
    const auto* const larger = std::is_sorted_until(first, last);
    if (larger == last) return;
    throw InputError(fmt::format("{}: row offsets (indptr) decrease after row {}: {} and {}", name,
                                 larger - first - 1, larger[-1], larger[0]));
  });
  require(offsets[offsets.size - 1] <= nonzeros && rows.values.size >= rows.column_numbers.size,
          fmt::format("{}: row offsets (indptr) end at {}, but there are {} column numbers and {} values", name,
                      offsets[offsets.size - 1], nonzeros, rows.values.size));
}

void require_columns(const std::string& name, const RowArrays& rows) {
  with_type(rows.column_numbers, [&](const auto* columns) {
    std::size_t wrong = rows.column_numbers.size;
#pragma omp parallel for schedule(static) reduction(min : wrong)
    for (std::size_t k = 0; k < rows.column_numbers.size; ++k) {
      if (columns[k] < 0 || columns[k] >= rows.columns) wrong = std::min(wrong, k);
    }
    if (wrong == rows.column_numbers.size) return;
    throw InputError(fmt::format("{}: column number {} is out of range, there are {} columns from 0", name,
                                 columns[wrong], rows.columns));
  });
}

/// The first `count` numbers of the array, by all threads.
template <class Array, class T>
void read_numbers(const Array& array, std::size_t count, std::vector<T>& numbers) {
  resize_large(numbers, count);
  with_type(array, [&](const auto* first) {
#pragma omp parallel for schedule(static)
    for (std::size_t k = 0; k < count; ++k) numbers[k] = static_cast<T>(first[k]);
  });
}

}  // namespace

Partition partition_by_counts(const Communicator& comm, GlobalIndex own_rows) {
  std::vector<GlobalIndex> offsets{0};
  for (const GlobalIndex count : comm.all_gather(own_rows)) offsets.push_back(offsets.back() + count);
  return Partition(std::move(offsets));
}

CsrSource::CsrSource(const Communicator& comm, std::string name, const RowArrays& rows, Partition partition)
    : comm_(comm), name_(std::move(name)), rows_(rows), partition_(std::move(partition)) {
  comm_.collectively([&] {
    const auto own = static_cast<std::size_t>(partition_.size(comm_.rank()));
    require(rows_.row_offsets.size == own + 1,
            fmt::format("{}: has {} rows where {} are expected", name_,
                        static_cast<GlobalIndex>(rows_.row_offsets.size) - 1, own));
    require_offsets(name_, rows_);
    require_columns(name_, rows_);
  });
}

CsrRows CsrSource::read(const Partition& partition) {
  require(partition == partition_, fmt::format("{}: its rows are dealt otherwise", name_));
  CsrRows rows;
  comm_.collectively([&] {
    rows.row_begin = partition.begin(comm_.rank());
    rows.global_rows = partition.rows();
    rows.global_columns = rows_.columns;
    const auto nonzeros = static_cast<std::size_t>(rows_.row_offsets[rows_.row_offsets.size - 1]);
    rows.row_offsets.clear();
    read_numbers(rows_.row_offsets, rows_.row_offsets.size, rows.row_offsets);
    read_numbers(rows_.column_numbers, nonzeros, rows.columns);
    read_numbers(rows_.values, nonzeros, rows.values);
    as_read_ = sort_rows(rows);
  });
  return rows;
}

ArrayBlockSource::ArrayBlockSource(const Communicator& comm, std::string name, const BlockArray& block)
    : comm_(comm), name_(std::move(name)), block_(block), rows_(comm.sum(block.rows)) {}

std::vector<double> ArrayBlockSource::read(const Partition& partition, GlobalIndex first, LocalIndex count) {
  std::vector<double> values;
  comm_.collectively([&] {
    require(
        block_.rows == partition.size(comm_.rank()),
        fmt::format("{}: has {} rows where {} are expected", name_, block_.rows, partition.size(comm_.rank())));
    if (block_.values == nullptr && block_.fetched) block_.values = block_.fetched();
    values.reserve(static_cast<std::size_t>(block_.rows) * static_cast<std::size_t>(count));
    for (GlobalIndex i = 0; i < block_.rows; ++i) {
      const double* const row = block_.values + i * block_.columns + first;
      for (LocalIndex j = 0; j < count; ++j) {
        if (!std::isfinite(row[j]))
          throw InputError(fmt::format("{}: row {}, column {} holds {}", name_, i, first + j, row[j]));
        values.push_back(row[j]);
      }
    }
  });
  return values;
}

ConstBlockView<double> ArrayBlockSource::resident() const {
  const auto columns = static_cast<LocalIndex>(block_.columns);
  return {block_.resident, static_cast<LocalIndex>(block_.rows), columns, columns};
}

}  // namespace block_eigs
