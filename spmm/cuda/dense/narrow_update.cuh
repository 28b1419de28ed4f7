#pragma once

#include "spmm/cuda/dense/update_kernel.cuh"

// Updates of at most three chunks of inputs and two tiles of outputs: coefficients travel with the launch and stay
// in registers, lanes read inputs straight from device memory. Without copies in shared memory there are few
// instructions besides the loads and stores themselves, which is what narrow blocks are bound by.
namespace block_eigs::cuda {

template <class T, int Chunks, int Tiles>
struct NarrowUpdate {
  DeviceList<ConstBlockView<T>> in;
  DeviceList<BlockView<T>> out;
  bool even;                                 ///< all inputs have even columns and pairs at multiples of their size
  double coefficients[Chunks * Tiles * 64];  ///< in the order of UpdateProblem
};

/// This lane's pairs of one chunk: rows g and g + 8, as ChunkStream gives them.
template <class T>
__device__ inline void load_chunk(const Columns<const T>& from, Row row, Row rows, bool even,
                                  Pair<T> (&pairs)[2]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const Row mine = row + 8 * half;
    const bool present = from.count > 0 && mine < rows;
    const T* const pair = from.data + static_cast<std::size_t>(mine) * static_cast<Row>(from.stride);
    pairs[half] = {T{0}, T{0}};
    if (even) {
      if (present) pairs[half] = *reinterpret_cast<const Pair<T>*>(pair);
    } else if (present) {
      pairs[half] = {pair[0], from.count > 1 ? pair[1] : T{0}};
    }
  }
}

template <class T, int Chunks, int Tiles, int Blocks>
__global__ void __launch_bounds__(update_threads, Blocks)
    narrow_update_kernel(const __grid_constant__ NarrowUpdate<T, Chunks, Tiles> problem) {
  __shared__ double2 shared[Chunks * Tiles * 32];
  for (int k = static_cast<int>(threadIdx.x); k < Chunks * Tiles * 32; k += update_threads) {
    shared[k] = {problem.coefficients[2 * k], problem.coefficients[2 * k + 1]};
  }
  const int lane = static_cast<int>(threadIdx.x % 32);
  Columns<const T> from[Chunks];
  Columns<T> to[Tiles];
#pragma unroll
  for (int chunk = 0; chunk < Chunks; ++chunk) {
    from[chunk] = pair_of_list<const T>(problem.in, chunk * chunk_pairs + lane % 4);
  }
#pragma unroll
  for (int tile = 0; tile < Tiles; ++tile) to[tile] = pair_of_list<T>(problem.out, tile * chunk_pairs + lane % 4);
  __syncthreads();
  double2 coefficients[Chunks][Tiles];
#pragma unroll
  for (int k = 0; k < Chunks * Tiles; ++k) coefficients[k / Tiles][k % Tiles] = shared[k * 32 + lane];

  const Row rows = static_cast<Row>(problem.out.rows);
  Row first = (blockIdx.x * update_warps + threadIdx.x / 32) * rows_per_warp;
  for (; first < rows; first += gridDim.x * update_warps * rows_per_warp) {
    const Row row = first + static_cast<Row>(lane / 4);
    Pair<T> in[Chunks][2];
#pragma unroll
    for (int chunk = 0; chunk < Chunks; ++chunk) load_chunk(from[chunk], row, rows, problem.even, in[chunk]);
    double c[Tiles][4] = {};
#pragma unroll
    for (int chunk = 0; chunk < Chunks; ++chunk) {
      const double a[4] = {static_cast<double>(in[chunk][0].first), static_cast<double>(in[chunk][1].first),
                           static_cast<double>(in[chunk][0].second), static_cast<double>(in[chunk][1].second)};
#pragma unroll
      for (int tile = 0; tile < Tiles; ++tile) {
        const double b[2] = {coefficients[chunk][tile].x, coefficients[chunk][tile].y};
        multiply_add(c[tile], a, b);
      }
    }
    __syncwarp();
#pragma unroll
    for (int tile = 0; tile < Tiles; ++tile) {
      Pair<T> rounded[2];
      round_tile(c[tile], rounded);
      store_tile(to[tile], row, rows, rounded, false);
    }
  }
}

}  // namespace block_eigs::cuda
