#include "apps/checkpoint/tall_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "spmm/device/kernels.hpp"
#include "spmm/large_vectors.hpp"

namespace block_eigs {

namespace {

/// Values that go through a block of a device at a time.
constexpr std::int64_t piece_values = std::int64_t{1} << 21;

std::int64_t piece_rows(std::int64_t rows, std::int64_t columns) {
  return std::min(rows, std::max<std::int64_t>(piece_values / std::max<std::int64_t>(columns, 1), 1));
}

/// Rows of a device, by way of a block there that they are packed in.
template <class T>
class DeviceRows {
 public:
  DeviceRows(const std::shared_ptr<Device>& device, ConstBlockView<T> view)
      : kernels_(make_kernels<T>(device)),
        view_(view),
        rows_(static_cast<LocalIndex>(piece_rows(view.rows, view.cols))),
        piece_(device, rows_, view.cols) {}

  /// To `out`, row-major.
  void read(std::int64_t first, std::int64_t count, T* out) {
    for (std::int64_t end = first + count; first < end; first += rows_, out += rows_ * view_.cols) {
      const std::int64_t some = std::min<std::int64_t>(rows_, end - first);
      BlockView<T> to = piece_.view();
      to.rows = static_cast<LocalIndex>(some);
      kernels_->copy(view_.row_range(static_cast<LocalIndex>(first), to.rows), to);
      piece_.rows_to_host(0, to.rows, out);
    }
  }

 private:
  std::shared_ptr<Kernels<T>> kernels_;
  ConstBlockView<T> view_;
  LocalIndex rows_;
  DenseBlock<T> piece_;
};

/// Rows in host memory, by all threads.
template <class T>
void pack(ConstBlockView<T> view, T* out) {
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < view.rows; ++i)
    std::copy_n(view.data + static_cast<std::ptrdiff_t>(i) * view.stride, view.cols,
                out + static_cast<std::ptrdiff_t>(i) * view.cols);
}

template <class T>
void read_rows(const std::shared_ptr<Device>& device, ConstBlockView<T> view, T* out) {
  if (device->host_addressable()) {
    pack(view, out);
  } else {
    DeviceRows<T>(device, view).read(0, view.rows, out);
  }
}

/// Consecutive rows of a block from row-major values in host memory.
template <class T>
void unpack(const std::shared_ptr<Device>& device, const std::vector<double>& values, BlockView<T> to) {
  DenseBlock<T> piece(device, to.rows, to.cols);
  if constexpr (std::is_same_v<T, double>) {
    piece.from_host(values.data());
  } else {
    piece.from_host(std::vector<T>(values.begin(), values.end()).data());
  }
  make_kernels<T>(device)->copy(piece.view(), to);
}

}  // namespace

template <class T>
std::vector<T> to_host(const std::shared_ptr<Device>& device, ConstBlockView<T> view) {
  std::vector<T> values;
  resize_large(values, static_cast<std::size_t>(view.rows) * static_cast<std::size_t>(view.cols));
  if (values.empty()) return values;
  read_rows(device, view, values.data());
  return values;
}

template <class T>
RowPieces<T> pieces_of(const std::shared_ptr<Device>& device, ConstBlockView<T> view) {
  const auto rows = std::make_shared<DeviceRows<T>>(device, view);
  const auto values = std::make_shared<std::vector<T>>();
  return [rows, values, columns = view.cols](std::int64_t first, std::int64_t count) {
    values->resize(static_cast<std::size_t>(count * columns));
    rows->read(first, count, values->data());
    return std::span<const T>(*values);
  };
}

template <class T>
RowPieces<T> pieces_of_copy(const std::shared_ptr<Device>& device, ConstBlockView<T> view) {
  const std::size_t size = static_cast<std::size_t>(view.rows) * static_cast<std::size_t>(view.cols);
  // Not filled with zeros by one thread, as a vector would be: iterations wait.
  const std::shared_ptr<T[]> values(new T[size]);
  touch_pages(values.get(), size * sizeof(T));
  read_rows(device, view, values.get());
  return [values, columns = view.cols](std::int64_t first, std::int64_t count) {
    return std::span<const T>(values.get() + first * columns, static_cast<std::size_t>(count * columns));
  };
}

template <class T>
std::vector<T> in_file_order(const RowLayout& layout, ConstBlockView<T> view) {
  std::vector<T> values;
  layout.comm.collectively([&] { values = to_host(layout.device, view); });
  return layout.order ? layout.order->in_file_order(values, static_cast<std::size_t>(view.cols))
                      : std::move(values);
}

template <class T>
void fill(const RowLayout& layout, const RowReader& read, DenseBlock<T>& block) {
  const GlobalIndex begin = layout.file.begin(layout.comm.rank());
  const std::int64_t rows = layout.file.size(layout.comm.rank());
  if (layout.order) {
    std::vector<double> values;
    layout.comm.collectively([&] {
      values.resize(static_cast<std::size_t>(rows * block.cols()));
      read(begin, rows, values.data());
    });
    values = layout.order->reordered(values, static_cast<std::size_t>(block.cols()));
    layout.comm.collectively([&] { unpack(layout.device, values, block.view()); });
    return;
  }
  layout.comm.collectively([&] {
    const std::int64_t step = piece_rows(rows, block.cols());
    std::vector<double> values;
    for (std::int64_t first = 0; first < rows; first += step) {
      const std::int64_t count = std::min(step, rows - first);
      values.resize(static_cast<std::size_t>(count * block.cols()));
      read(begin + first, count, values.data());
      BlockView<T> to = block.view();
      to.data += first * to.stride;
      to.rows = static_cast<LocalIndex>(count);
      unpack(layout.device, values, to);
    }
  });
}

template std::vector<float> to_host(const std::shared_ptr<Device>&, ConstBlockView<float>);
template std::vector<double> to_host(const std::shared_ptr<Device>&, ConstBlockView<double>);
template RowPieces<float> pieces_of(const std::shared_ptr<Device>&, ConstBlockView<float>);
template RowPieces<double> pieces_of(const std::shared_ptr<Device>&, ConstBlockView<double>);
template RowPieces<float> pieces_of_copy(const std::shared_ptr<Device>&, ConstBlockView<float>);
template RowPieces<double> pieces_of_copy(const std::shared_ptr<Device>&, ConstBlockView<double>);
template std::vector<float> in_file_order(const RowLayout&, ConstBlockView<float>);
template std::vector<double> in_file_order(const RowLayout&, ConstBlockView<double>);
template void fill(const RowLayout&, const RowReader&, DenseBlock<float>&);
template void fill(const RowLayout&, const RowReader&, DenseBlock<double>&);

}  // namespace block_eigs
