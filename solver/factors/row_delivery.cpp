#include "solver/factors/row_delivery.hpp"

#include <algorithm>

namespace block_eigs::factors {

namespace {

/// `begins` of parts of one row wide, for parts of `columns`.
std::vector<std::int64_t> times(std::vector<std::int64_t> begins, LocalIndex columns) {
  for (std::int64_t& begin : begins) begin *= columns;
  return begins;
}

/// Calls each(r, at, in_part, length) for all rows of all parts.
template <class Each>
void for_each_row(const std::vector<std::int64_t>& begins, const Each& each) {
  for (std::size_t r = 0; r + 1 < begins.size(); ++r) {
    const auto first = static_cast<std::size_t>(begins[r]);
    const auto length = static_cast<std::size_t>(begins[r + 1]) - first;
    for (std::size_t i = 0; i < length; ++i) each(first, i, length);
  }
}

}  // namespace

RowDelivery::RowDelivery(const Communicator& comm, const Partition& partition, std::span<const int> rows)
    : comm_(comm) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<std::vector<std::int64_t>> numbers(ranks);
  comm.collectively([&] {
    std::vector<std::vector<std::size_t>> positions(ranks);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const GlobalIndex row = GlobalIndex{rows[i]} - 1;
      const auto owner = static_cast<std::size_t>(partition.owner(row));
      positions[owner].push_back(i);
      numbers[owner].push_back(row - partition.begin(static_cast<int>(owner)));
    }
    sent_.reserve(rows.size());
    sent_begins_ = {0};
    for (const std::vector<std::size_t>& part : positions) {
      sent_.insert(sent_.end(), part.begin(), part.end());
      sent_begins_.push_back(static_cast<std::int64_t>(sent_.size()));
    }
  });
  numbers = comm.all_to_all(numbers);
  comm.collectively([&] {
    placed_begins_ = {0};
    for (const std::vector<std::int64_t>& part : numbers) {
      placed_.insert(placed_.end(), part.begin(), part.end());
      placed_begins_.push_back(static_cast<std::int64_t>(placed_.size()));
    }
  });
}

void RowDelivery::reserve(LocalIndex columns) {
  comm_.collectively([&] {
    outgoing_.resize(std::max(outgoing_.size(), sent_.size() * static_cast<std::size_t>(columns)));
    incoming_.resize(std::max(incoming_.size(), placed_.size() * static_cast<std::size_t>(columns)));
  });
}

void RowDelivery::deliver(const double* found, std::ptrdiff_t found_stride, LocalIndex columns, double* own,
                          std::ptrdiff_t own_stride) {
  const auto width = static_cast<std::size_t>(columns);
  for_each_row(sent_begins_, [&](std::size_t first, std::size_t i, std::size_t length) {
    const double* row = found + sent_[first + i];
    double* to = outgoing_.data() + first * width + i;
    for (std::size_t j = 0; j < width; ++j) to[j * length] = row[static_cast<std::ptrdiff_t>(j) * found_stride];
  });
  comm_.all_to_all(std::span(outgoing_).first(sent_.size() * width), times(sent_begins_, columns),
                   std::span(incoming_).first(placed_.size() * width), times(placed_begins_, columns));
  for_each_row(placed_begins_, [&](std::size_t first, std::size_t i, std::size_t length) {
    const double* from = incoming_.data() + first * width + i;
    double* row = own + placed_[first + i];
    for (std::size_t j = 0; j < width; ++j) row[static_cast<std::ptrdiff_t>(j) * own_stride] = from[j * length];
  });
}

}  // namespace block_eigs::factors
