#include "spmm/matrix/column_major_product.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>
#include <vector>

#include "spmm/device/buffer.hpp"
#include "spmm/host/runtime/host_backend.hpp"
#include "spmm/host/sparse/column_major_rows.hpp"
#include "spmm/parallel/column_major_halo.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs {

namespace host {

namespace {

/// Rows of A that the threads share between two moments at which all rows of B they need are there.
constexpr std::int64_t step_rows = 1024;
/// Columns of a panel.
constexpr int widest = 16;

template <class Index>
class HostColumnMajorProduct final : public ColumnMajorProduct<Index> {
 public:
  HostColumnMajorProduct(const Communicator& comm, const Partition& columns, const BorrowedCsr<Index>& own,
                         const BorrowedCsr<Index>& ghost, std::span<const GlobalIndex> ghost_columns, int threads,
                         HaloWay halo)
      : comm_(comm),
        own_(own),
        ghost_(ghost),
        device_(make_device()),
        halo_(comm, columns, ghost_columns, *make_transport(comm, device_, halo)),
        threads_(threads) {
    comm.collectively([&] {
      find_boundary_rows();
      find_needed_rows(static_cast<Index>(columns.size(comm.rank())));
    });
    reserve(1);
  }

  void rebind(const BorrowedCsr<Index>& own, const BorrowedCsr<Index>& ghost) override {
    own_ = own;
    ghost_ = ghost;
  }
  void multiply(ConstColumns b, Columns c, std::int64_t count) override;
  void multiply_vector(const double* x, const double* z, double* y) override;

 private:
  void find_boundary_rows();
  void find_needed_rows(Index own_columns);
  void reserve(int columns);
  int most_threads() const { return own_.rows > step_rows ? threads_ : 1; }
  std::int64_t window_rows() const;
  void multiply_panel(ConstColumns b, Columns c, int count);
  template <int width>
  void multiply_own(ConstColumns b, Columns c, int count);
  template <int width>
  void add_ghosts(const double* ghosts, Columns c, int count) const;

  Communicator comm_;
  BorrowedCsr<Index> own_;
  BorrowedCsr<Index> ghost_;
  std::shared_ptr<Device> device_;
  ColumnMajorHalo halo_;
  std::vector<Index> boundary_rows_;  ///< rows with ghost columns
  std::vector<Index> first_needed_;   ///< rows of B that steps from this one on read: first_needed_[s] and up
  std::vector<Index> end_needed_;     ///< rows of B that steps up to this one read: below end_needed_[s]
  /// Rows of the panel of B that are turned and still needed, row i at i modulo window_rows_.
  Buffer<double> window_;
  std::int64_t window_rows_ = 0;
  int threads_ = 1;
  int reserved_ = 0;  ///< columns of the widest panel that there is room for
};

template <class Index>
void HostColumnMajorProduct<Index>::find_boundary_rows() {
  for (Index i = 0; i < ghost_.rows; ++i) {
    if (ghost_.row_offsets[i] < ghost_.row_offsets[i + 1]) boundary_rows_.push_back(i);
  }
}

template <class Index>
void HostColumnMajorProduct<Index>::find_needed_rows(Index own_columns) {
  const std::size_t steps = (static_cast<std::size_t>(own_.rows) + step_rows - 1) / step_rows;
  first_needed_.assign(steps, own_columns);
  end_needed_.assign(steps, 0);
  for (std::size_t s = 0; s < steps; ++s) {
    const auto begin = static_cast<Index>(s * step_rows);
    const Index end = static_cast<Index>(std::min<std::int64_t>(begin + step_rows, own_.rows));
    for (Index k = own_.row_offsets[begin]; k < own_.row_offsets[end]; ++k) {
      first_needed_[s] = std::min(first_needed_[s], own_.columns[k]);
      end_needed_[s] = std::max<Index>(end_needed_[s], own_.columns[k] + 1);
    }
    if (s > 0) end_needed_[s] = std::max(end_needed_[s], end_needed_[s - 1]);
  }
  for (std::size_t s = steps; s-- > 1;) first_needed_[s - 1] = std::min(first_needed_[s - 1], first_needed_[s]);
}

/// Width of the panel that holds `columns` of them, with zeros behind.
int panel_width(int columns) { return columns <= 1 ? columns : (columns + 3) / 4 * 4; }

/// Nothing is allocated between the begin and the end of an exchange. Collective where panels become wider.
template <class Index>
void HostColumnMajorProduct<Index>::reserve(int columns) {
  const int width = panel_width(columns);
  if (width <= reserved_) return;
  halo_.reserve(width);
  comm_.collectively([&] {
    if (width == 1) return;
    window_rows_ = window_rows();
    window_ = {};  // the old one goes before the new one comes
    window_ = Buffer<double>(device_, static_cast<std::size_t>(window_rows_) * static_cast<std::size_t>(width));
  });
  reserved_ = width;
}

template <class Index>
void HostColumnMajorProduct<Index>::multiply(ConstColumns b, Columns c, std::int64_t count) {
  reserve(static_cast<int>(std::min<std::int64_t>(widest, count)));
  for (std::int64_t first = 0; first < count; first += widest) {
    const ConstColumns in{b.data + first * b.leading, b.leading};
    const Columns out{c.data + first * c.leading, c.leading};
    const auto width = static_cast<int>(std::min<std::int64_t>(widest, count - first));
    if (width == 1) {
      multiply_vector(in.data, nullptr, out.data);
    } else {
      multiply_panel(in, out, width);
    }
  }
}

template <class Index>
void HostColumnMajorProduct<Index>::multiply_vector(const double* x, const double* z, double* y) {
  const std::int64_t rows = own_.rows;
  halo_.begin(x, 0, 1, 1);
#pragma omp parallel for schedule(static) num_threads(threads_) if (rows > step_rows)
  for (std::int64_t first = 0; first < rows; first += step_rows) {
    const std::int64_t end = std::min(first + step_rows, rows);
    if (z != nullptr && z != y) std::copy(z + first, z + end, y + first);
    if (z != nullptr) {
      rows_times_vector<true>(own_, first, end, x, y);
    } else {
      rows_times_vector<false>(own_, first, end, x, y);
    }
    if (omp_get_thread_num() == 0) halo_.progress();
  }
  const double* const ghosts = halo_.finish();
  for (const Index row : boundary_rows_) rows_times_vector<true>(ghost_, row, row + 1, ghosts, y);
}

template <class Index>
void HostColumnMajorProduct<Index>::multiply_panel(ConstColumns b, Columns c, int count) {
  const auto with_width = [&]<int width>(std::integral_constant<int, width>) {
    halo_.begin(b.data, b.leading, count, width);
    multiply_own<width>(b, c, count);
    add_ghosts<width>(halo_.finish(), c, count);
  };
  if (count <= 4) return with_width(std::integral_constant<int, 4>{});
  if (count <= 8) return with_width(std::integral_constant<int, 8>{});
  if (count <= 12) return with_width(std::integral_constant<int, 12>{});
  with_width(std::integral_constant<int, widest>{});
}

/// Height of the window, a power of two. A thread turns rows of the next steps while
/// others may still multiply the last ones.
template <class Index>
std::int64_t HostColumnMajorProduct<Index>::window_rows() const {
  const int team = most_threads();
  std::int64_t rows = 1;
  for (std::size_t s = 0; s < end_needed_.size(); ++s) {
    const std::size_t last = std::min(s + 2 * static_cast<std::size_t>(team), end_needed_.size()) - 1;
    rows = std::max<std::int64_t>(rows, end_needed_[last] - first_needed_[s]);
  }
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(rows)));
}

template <class Index>
template <int width>
void HostColumnMajorProduct<Index>::multiply_own(ConstColumns b, Columns c, int count) {
  const Window window{window_.data(), window_rows_ - 1};
#pragma omp parallel num_threads(most_threads())
  {
    const int team = omp_get_num_threads();  // fewer than asked for where the caller is parallel itself
    std::int64_t turned = 0;
    const auto steps = static_cast<std::int64_t>(end_needed_.size());
    for (std::int64_t step = 0; step < steps; step += team) {
      const std::int64_t last_step = std::min<std::int64_t>(step + team, steps) - 1;
      const std::int64_t needed = end_needed_[static_cast<std::size_t>(last_step)];
      const std::int64_t share = (needed - turned + team - 1) / team;
      const std::int64_t from = std::min(turned + omp_get_thread_num() * share, needed);
      turn_rows<width>(b, count, from, std::min(from + share, needed), window);
      turned = needed;
      if (omp_get_thread_num() == 0) halo_.progress();
#pragma omp barrier
      const std::int64_t mine = step + omp_get_thread_num();
      if (mine > last_step) continue;
      const std::int64_t end = std::min<std::int64_t>((mine + 1) * step_rows, own_.rows);
      multiply_rows<width>(own_, mine * step_rows, end, window, c, count);
    }
    finish_stores();
  }
}

template <class Index>
template <int width>
void HostColumnMajorProduct<Index>::add_ghosts(const double* ghosts, Columns c, int count) const {
  const Window panel{const_cast<double*>(ghosts), -1};
  const auto rows = static_cast<std::int64_t>(boundary_rows_.size());
#pragma omp parallel for schedule(static) num_threads(threads_) if (rows > step_rows)
  for (std::int64_t first = 0; first < rows; first += tile_rows) {
    alignas(64) std::array<double, static_cast<std::size_t>(tile_rows) * width> tile;
    const std::span mine(boundary_rows_.data() + first,
                         static_cast<std::size_t>(std::min(tile_rows, rows - first)));
    double* out = tile.data();
    for (const Index row : mine) {
      row_times_panel<width>(ghost_, row, panel, out);
      out += width;
    }
    // Column by column: the same rows of all columns may have one place in the cache.
    for (int j = 0; j < count; ++j) {
      const double* sum = tile.data() + j;
      for (const Index row : mine) {
        c.data[row + j * c.leading] += *sum;
        sum += width;
      }
    }
  }
}

}  // namespace

}  // namespace host

template <class Index>
std::unique_ptr<ColumnMajorProduct<Index>> make_column_major_product(
    const Communicator& comm, const Partition& columns, const BorrowedCsr<Index>& own,
    const BorrowedCsr<Index>& ghost, std::span<const GlobalIndex> ghost_columns, int threads, HaloWay halo) {
  return std::make_unique<host::HostColumnMajorProduct<Index>>(comm, columns, own, ghost, ghost_columns, threads,
                                                               halo);
}

template std::unique_ptr<ColumnMajorProduct<std::int32_t>> make_column_major_product(
    const Communicator&, const Partition&, const BorrowedCsr<std::int32_t>&, const BorrowedCsr<std::int32_t>&,
    std::span<const GlobalIndex>, int, HaloWay);
template std::unique_ptr<ColumnMajorProduct<std::int64_t>> make_column_major_product(
    const Communicator&, const Partition&, const BorrowedCsr<std::int64_t>&, const BorrowedCsr<std::int64_t>&,
    std::span<const GlobalIndex>, int, HaloWay);

}  // namespace block_eigs
