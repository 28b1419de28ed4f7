#include "io/petsc/plugin/panel_product.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "io/petsc/plugin/panel_layout.hpp"

namespace block_eigs::petsc {

namespace {

/// Rows of A whose products stay in cache until they are turned.
constexpr std::int64_t tile_rows = 64;
/// Rows of B that are turned at once, while the next ones are fetched.
constexpr std::int64_t piece_rows = 64;
/// Rows of A that the threads share between two moments at which all rows of B they need are there.
constexpr std::int64_t step_rows = 1024;
constexpr int widest = PanelHalo::widest;
/// Rows of a panel, row-major, the row i of it at i & mask.
struct Window {
  double* data;
  std::int64_t mask;

  template <int width>
  double* row(std::int64_t i) const {
    return data + (i & mask) * width;
  }
};

/// Rows first .. last - 1 of a panel of B into the window; columns from `count` on become zero.
template <int width>
void turn_rows(ConstColumns b, int count, std::int64_t first, std::int64_t last, const Window& window) {
  for (std::int64_t begin = first; begin < last;) {
    // Up to where the window wraps, in pieces that stay in cache.
    const std::int64_t end = std::min({last, begin + piece_rows, (begin | window.mask) + 1});
    to_rows<width>(b.data + begin, b.leading, count, end - begin, window.row<width>(begin));
    begin = end;
  }
}

/// y = A x or y += A x in rows begin .. end - 1.
template <bool add, class Index>
void rows_times_vector(const BorrowedCsr<Index>& a, std::int64_t begin, std::int64_t end, const double* x,
                       double* y) {
  const Index* const offsets = a.row_offsets;
  const Index* column = a.columns + offsets[begin];
  const double* value = a.values + offsets[begin];
  for (std::int64_t i = begin; i < end; ++i) {
    double sum = add ? y[i] : 0.0;
    for (const double* const row_end = a.values + offsets[i + 1]; value != row_end; ++value, ++column) {
      sum += *value * x[*column];
    }
    y[i] = sum;
  }
}

/// One row of A times the row-major panel. `out` has room for `width` numbers.
template <int width, class Index>
void row_times_panel(const BorrowedCsr<Index>& a, Index row, const Window& panel, double* out) {
  double sum[width] = {};
  const Index end = a.row_offsets[row + 1];
  for (Index k = a.row_offsets[row]; k < end; ++k) {
    const double value = a.values[k];
    const double* in = panel.row<width>(a.columns[k]);
    for (int j = 0; j < width; ++j) sum[j] += value * in[j];
  }
  std::memcpy(out, sum, sizeof sum);
}

/// Rows begin .. end - 1 of A times the panel, turned tile by tile into the columns of C.
template <int width, class Index>
void multiply_rows(const BorrowedCsr<Index>& a, std::int64_t begin, std::int64_t end, const Window& panel,
                   Columns c, int count) {
  alignas(64) std::array<double, static_cast<std::size_t>(tile_rows) * width> tile;
  // The first tile ends where a line of C begins.
  std::int64_t rows = rows_to_line(c.data + begin);
  if (rows == 0) rows = tile_rows;
  for (; begin < end; begin += rows, rows = tile_rows) {
    rows = std::min(rows, end - begin);
    for (std::int64_t i = 0; i < rows; ++i) {
      row_times_panel<width>(a, static_cast<Index>(begin + i), panel, tile.data() + i * width);
    }
    to_columns<width, tile_rows>(tile.data(), rows, count, c.data + begin, c.leading);
  }
}

}  // namespace

template <class Index>
PanelProduct<Index>::PanelProduct(const Communicator& comm, const Partition& columns,
                                  const BorrowedCsr<Index>& own, const BorrowedCsr<Index>& ghost,
                                  std::span<const GlobalIndex> ghost_columns, int threads)
    : own_(own),
      ghost_(ghost),
      halo_(std::make_unique<PanelHalo>(comm, columns, ghost_columns)),
      own_columns_(static_cast<Index>(columns.size(comm.rank()))),
      threads_(threads) {
  for (Index i = 0; i < ghost_.rows; ++i) {
    if (ghost_.row_offsets[i] < ghost_.row_offsets[i + 1]) boundary_rows_.push_back(i);
  }
  const std::size_t steps = (static_cast<std::size_t>(own_.rows) + step_rows - 1) / step_rows;
  first_needed_.assign(steps, own_columns_);
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

template <class Index>
PanelProduct<Index>::~PanelProduct() = default;

template <class Index>
void PanelProduct<Index>::rebind(const BorrowedCsr<Index>& own, const BorrowedCsr<Index>& ghost) {
  own_ = own;
  ghost_ = ghost;
}

template <class Index>
void PanelProduct<Index>::multiply(ConstColumns b, Columns c, std::int64_t count) {
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
void PanelProduct<Index>::multiply_vector(const double* x, const double* z, double* y) {
  const std::int64_t rows = own_.rows;
  halo_->begin(x, 0, 1, 1);
#pragma omp parallel for schedule(static) num_threads(threads_) if (rows > step_rows)
  for (std::int64_t first = 0; first < rows; first += step_rows) {
    const std::int64_t end = std::min(first + step_rows, rows);
    if (z != nullptr && z != y) std::copy(z + first, z + end, y + first);
    if (z != nullptr) {
      rows_times_vector<true>(own_, first, end, x, y);
    } else {
      rows_times_vector<false>(own_, first, end, x, y);
    }
    if (omp_get_thread_num() == 0) halo_->progress();
  }
  const double* const ghosts = halo_->finish();
  for (const Index row : boundary_rows_) rows_times_vector<true>(ghost_, row, row + 1, ghosts, y);
}

template <class Index>
void PanelProduct<Index>::multiply_panel(ConstColumns b, Columns c, int count) {
  const auto with_width = [&]<int width>(std::integral_constant<int, width>) {
    halo_->begin(b.data, b.leading, count, width);
    multiply_own<width>(b, c, count);
    add_ghosts<width>(halo_->finish(), c, count);
  };
  if (count <= 4) return with_width(std::integral_constant<int, 4>{});
  if (count <= 8) return with_width(std::integral_constant<int, 8>{});
  if (count <= 12) return with_width(std::integral_constant<int, 12>{});
  with_width(std::integral_constant<int, widest>{});
}

/// Height of the window for up to `team` threads, a power of two. A thread turns rows of the next steps while
/// others may still multiply the last ones.
template <class Index>
std::int64_t PanelProduct<Index>::window_rows(int team) const {
  std::int64_t rows = 1;
  for (std::size_t s = 0; s < end_needed_.size(); ++s) {
    const std::size_t last = std::min(s + 2 * static_cast<std::size_t>(team), end_needed_.size()) - 1;
    rows = std::max<std::int64_t>(rows, end_needed_[last] - first_needed_[s]);
  }
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(rows)));
}

template <class Index>
template <int width>
void PanelProduct<Index>::multiply_own(ConstColumns b, Columns c, int count) {
  const int wanted = own_.rows > step_rows ? threads_ : 1;
  const std::int64_t rows_kept = window_rows(wanted);
  window_.resize(static_cast<std::size_t>(rows_kept) * widest);
  const Window window{window_.data(), rows_kept - 1};
#pragma omp parallel num_threads(wanted)
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
      if (omp_get_thread_num() == 0) halo_->progress();
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
void PanelProduct<Index>::add_ghosts(const double* ghosts, Columns c, int count) const {
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

template class PanelProduct<std::int32_t>;
template class PanelProduct<std::int64_t>;

}  // namespace block_eigs::petsc
