#include "spmm/parallel/column_major_halo.hpp"

#include <cstddef>
#include <vector>

#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs {

namespace {

std::size_t row_bytes(int width) { return static_cast<std::size_t>(width) * sizeof(double); }

}  // namespace

ColumnMajorHalo::ColumnMajorHalo(const Communicator& comm, const Partition& columns,
                                 std::span<const GlobalIndex> ghosts, Transport& transport)
    : plan_(std::make_shared<const HaloPlan>(comm, columns, ghosts)) {
  comm.collectively([&] { channel_ = transport.make_channel(plan_); });
}

void ColumnMajorHalo::reserve(int width) { channel_->reserve(row_bytes(width)); }

void ColumnMajorHalo::begin(const double* b, std::int64_t leading, int count, int width) {
  const std::span<std::byte* const> targets = channel_->open(row_bytes(width));
  const std::vector<LocalIndex>& rows = plan_->rows_to_send();
  for (std::size_t d = 0; d < targets.size(); ++d) {
    const HaloPlan::Neighbour& destination = plan_->destinations()[d];
    const std::span mine(rows.data() + destination.first, static_cast<std::size_t>(destination.count));
    for (int j = 0; j < width; ++j) {
      const double* const column = b + j * leading;
      double* packed = reinterpret_cast<double*>(targets[d]) + j;
      for (const LocalIndex row : mine) {
        *packed = j < count ? column[row] : 0.0;
        packed += width;
      }
    }
  }
  channel_->send();
}

const double* ColumnMajorHalo::finish() { return reinterpret_cast<const double*>(channel_->receive()); }

}  // namespace block_eigs
