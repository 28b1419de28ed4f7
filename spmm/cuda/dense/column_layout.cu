#include <type_traits>

#include "spmm/cuda/dense/column_layout.hpp"
#include "spmm/cuda/runtime/cuda_check.hpp"

namespace block_eigs::cuda {

namespace {

constexpr int threads = 256;
constexpr int elements_per_thread = 8;

/// A tile of rows x width elements on its way from one layout to the other, in shared memory column by column.
/// Columns lie `pitch` apart, so that lanes that go along a row of the tile meet different banks.
template <class T, int width_>
struct Tile {
  static constexpr int width = width_;
  static constexpr int rows = threads * elements_per_thread / width;
  static constexpr int lanes_at_once = 128 / static_cast<int>(sizeof(T));  ///< that the banks serve
  static constexpr int pitch = rows + (lanes_at_once > width ? lanes_at_once / width : 1);

  /// Where an element is while lanes go along columns, and while they go along rows.
  __device__ static int row_by_columns(int k) { return k % rows; }
  __device__ static int column_by_columns(int k) { return k / rows; }
  __device__ static int row_by_rows(int k) { return k / width; }
  __device__ static int column_by_rows(int k) { return k % width; }
};

/// What a thread block works on: the tile's corner in the block, and what of it there is.
template <class Tile>
struct Place {
  LocalIndex first_row, first_column;
  int rows, columns;

  __device__ Place(LocalIndex all_rows, LocalIndex all_columns)
      : first_row(static_cast<LocalIndex>(blockIdx.x) * Tile::rows),
        first_column(static_cast<LocalIndex>(blockIdx.y) * Tile::width),
        rows(min(Tile::rows, all_rows - first_row)),
        columns(min(Tile::width, all_columns - first_column)) {}
};

template <class T, int width>
__global__ void __launch_bounds__(threads)
    columns_to_rows(const T* columns, std::int64_t leading, BlockView<T> y) {
  using Shape = Tile<T, width>;
  __shared__ T tile[width * Shape::pitch];
  const Place<Shape> place(y.rows, y.cols);
  const T* from = columns + place.first_column * leading + place.first_row;
  T* to = y.data + static_cast<std::int64_t>(place.first_row) * y.stride + place.first_column;
  T values[elements_per_thread];
#pragma unroll
  for (int e = 0; e < elements_per_thread; ++e) {
    const int k = e * threads + static_cast<int>(threadIdx.x);
    const int i = Shape::row_by_columns(k), j = Shape::column_by_columns(k);
    values[e] = i < place.rows && j < place.columns ? __ldcs(from + j * leading + i) : T(0);
  }
#pragma unroll
  for (int e = 0; e < elements_per_thread; ++e) {
    const int k = e * threads + static_cast<int>(threadIdx.x);
    tile[Shape::column_by_columns(k) * Shape::pitch + Shape::row_by_columns(k)] = values[e];
  }
  __syncthreads();
#pragma unroll
  for (int e = 0; e < elements_per_thread; ++e) {
    const int k = e * threads + static_cast<int>(threadIdx.x);
    const int i = Shape::row_by_rows(k), j = Shape::column_by_rows(k);
    if (i < place.rows && j < place.columns) {
      to[static_cast<std::int64_t>(i) * y.stride + j] = tile[j * Shape::pitch + i];
    }
  }
}

template <class T, int width>
__global__ void __launch_bounds__(threads) rows_to_columns(ConstBlockView<T> x, T* columns, std::int64_t leading) {
  using Shape = Tile<T, width>;
  __shared__ T tile[width * Shape::pitch];
  const Place<Shape> place(x.rows, x.cols);
  const T* from = x.data + static_cast<std::int64_t>(place.first_row) * x.stride + place.first_column;
  T* to = columns + place.first_column * leading + place.first_row;
  T values[elements_per_thread];
#pragma unroll
  for (int e = 0; e < elements_per_thread; ++e) {
    const int k = e * threads + static_cast<int>(threadIdx.x);
    const int i = Shape::row_by_rows(k), j = Shape::column_by_rows(k);
    values[e] = i < place.rows && j < place.columns ? from[static_cast<std::int64_t>(i) * x.stride + j] : T(0);
  }
#pragma unroll
  for (int e = 0; e < elements_per_thread; ++e) {
    const int k = e * threads + static_cast<int>(threadIdx.x);
    tile[Shape::column_by_rows(k) * Shape::pitch + Shape::row_by_rows(k)] = values[e];
  }
  __syncthreads();
#pragma unroll
  for (int e = 0; e < elements_per_thread; ++e) {
    const int k = e * threads + static_cast<int>(threadIdx.x);
    const int i = Shape::row_by_columns(k), j = Shape::column_by_columns(k);
    if (i < place.rows && j < place.columns) __stcs(to + j * leading + i, tile[j * Shape::pitch + i]);
  }
}

template <class Tile>
dim3 grid_of(LocalIndex rows, LocalIndex columns) {
  return {static_cast<unsigned>((rows - 1) / Tile::rows + 1),
          static_cast<unsigned>((columns - 1) / Tile::width + 1)};
}

/// Calls launch with a tile width that holds `columns`, or with the widest.
template <class Launch>
void with_width(LocalIndex columns, Launch launch) {
  if (columns <= 4) return launch(std::integral_constant<int, 4>{});
  if (columns <= 8) return launch(std::integral_constant<int, 8>{});
  if (columns <= 16) return launch(std::integral_constant<int, 16>{});
  return launch(std::integral_constant<int, 32>{});
}

}  // namespace

template <class T>
void from_columns(cudaStream_t stream, const T* columns, std::int64_t leading, BlockView<T> y) {
  if (y.rows == 0 || y.cols == 0) return;
  with_width(y.cols, [&](auto width) {
    columns_to_rows<T, width()>
        <<<grid_of<Tile<T, width()>>(y.rows, y.cols), threads, 0, stream>>>(columns, leading, y);
  });
  check_launch("from_columns");
}

template <class T>
void to_columns(cudaStream_t stream, ConstBlockView<T> x, T* columns, std::int64_t leading) {
  if (x.rows == 0 || x.cols == 0) return;
  with_width(x.cols, [&](auto width) {
    rows_to_columns<T, width()>
        <<<grid_of<Tile<T, width()>>(x.rows, x.cols), threads, 0, stream>>>(x, columns, leading);
  });
  check_launch("to_columns");
}

template void from_columns(cudaStream_t, const float*, std::int64_t, BlockView<float>);
template void from_columns(cudaStream_t, const double*, std::int64_t, BlockView<double>);
template void to_columns(cudaStream_t, ConstBlockView<float>, float*, std::int64_t);
template void to_columns(cudaStream_t, ConstBlockView<double>, double*, std::int64_t);

}  // namespace block_eigs::cuda
