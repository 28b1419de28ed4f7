#pragma once

#include <type_traits>

#include "spmm/cuda/sparse/spmm_pack.cuh"
#include "spmm/types.hpp"

namespace block_eigs::cuda {

/// A as the kernels see it: bundles of up to a few consecutive non-empty rows that have the same columns, so that
/// a row of B is loaded once for all of them. Bundle g has the columns columns[column_offsets[g]] ..
/// columns[column_offsets[g + 1]] - 1; the values of its rows follow each other from values[value_offsets[g]] on.
/// With bundles of one row `first_rows` is null, and both arrays of offsets are one.
template <class T>
struct RowBundles {
  LocalIndex count = 0;
  Offset columns_total = 0;
  const Offset* column_offsets = nullptr;
  const Offset* value_offsets = nullptr;
  const LocalIndex* first_rows = nullptr;  ///< number among the non-empty rows; count + 1 entries
  const LocalIndex* targets = nullptr;     ///< row of C of a non-empty row; null: the row's own number
  const LocalIndex* columns = nullptr;
  const T* values = nullptr;

  __device__ LocalIndex target(LocalIndex row) const { return targets == nullptr ? row : __ldg(targets + row); }
};

/// Rows of A without nonzeros, whose rows of C the last blocks of a grid store.
struct EmptyRows {
  LocalIndex count = 0;
  const LocalIndex* targets = nullptr;
  unsigned blocks = 0;  ///< that see to them
};

/// What the first blocks of a grid ask for ahead of need: parts of A and B that would otherwise come from memory
/// piece by piece, one latency after the other. Shares are multiples of 16 bytes, as are the addresses.
struct Prefetch {
  static constexpr int ranges = 4;
  static constexpr std::uint32_t touched_every = 64 * 1024;
  const char* begin[ranges] = {};
  const char* end[ranges] = {};
  std::uint32_t share[ranges] = {};  ///< bytes for each block
  unsigned blocks = 0;               ///< that share the work; 0: nothing is prefetched
  /// C, of which a block asks for a line after every `touched_every` bytes: where its pages are is known, then,
  /// when sums are stored. None where these are null.
  const char* result = nullptr;
  const char* result_end = nullptr;
};

__device__ __forceinline__ void prefetch_to_l2(const char* from, std::uint32_t bytes) {
#if __CUDA_ARCH__ >= 900
  if (threadIdx.x > 0) return;
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(__cvta_generic_to_global(from)), "r"(bytes)
               : "memory");
#else
  for (std::uint32_t at = threadIdx.x * 128; at < bytes; at += blockDim.x * 128) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(from + at)) : "memory");
  }
#endif
}

/// Called by every thread at the beginning of a kernel.
__device__ __forceinline__ void start_prefetch(const Prefetch& prefetch) {
  if (blockIdx.y > 0) return;
  if (threadIdx.x == 32) {  // while the first warp has the rest to do
    const char* const line = prefetch.result + static_cast<std::uint64_t>(blockIdx.x) * Prefetch::touched_every;
    if (line < prefetch.result_end)
      asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(line)) : "memory");
  }
  for (unsigned part = blockIdx.x; part < prefetch.blocks; part += gridDim.x) {
#pragma unroll
    for (int i = 0; i < Prefetch::ranges; ++i) {
      const char* const from = prefetch.begin[i] + static_cast<std::uint64_t>(part) * prefetch.share[i];
      const std::int64_t left = prefetch.end[i] - from;
      if (left <= 0) continue;
      prefetch_to_l2(from, static_cast<std::uint32_t>(min(left, static_cast<std::int64_t>(prefetch.share[i]))));
    }
  }
}

/// What becomes of a row's product before it is stored, see ProductStep.
struct StepFactors {
  double alpha = 1.0;
  double right_hand_side = 0.0;
  double beta = 0.0;
  double gamma = 0.0;
  const double* betas = nullptr;  ///< a factor a column beside beta, zeros behind the last one up to a whole pack
  const void* scale = nullptr;
  const char* r = nullptr;
  std::uint32_t r_stride = 0;
};

/// B and C. Strides are in bytes. A launch works on `packs_per_slab` packs of a row for each blockIdx.y.
struct DenseOperands {
  const char* b = nullptr;
  char* c = nullptr;
  std::uint32_t b_stride = 0;
  std::uint32_t c_stride = 0;
  int columns = 0;
  int packs_per_slab = 0;
  Prefetch prefetch;
};

/// The same with a step to take along. A type of its own: what a step costs in registers, products without one
/// need not pay.
struct StepOperands : DenseOperands {
  StepFactors step;
};

/// The part of a row of B and C that one lane works on: packs lane, lane + L, ..., P of them, of the block's slab.
template <class T, int W, int L, int P, class Operands>
class LaneColumns {
 public:
  using PackType = Pack<T, W>;

  __device__ LaneColumns(const Operands& operands, int lane)
      : operands_(operands), first_(static_cast<int>(blockIdx.y) * operands.packs_per_slab + lane) {
#pragma unroll
    for (int i = 0; i < P; ++i) {
      // Packs that are not there read as the slab's first one, so that loads need no condition; they are not
      // stored.
      const int pack = is_there(i) ? first_ + i * L : static_cast<int>(blockIdx.y) * operands.packs_per_slab;
      b_[i] = operands.b + pack * sizeof(PackType);
    }
  }

  __device__ __forceinline__ void load(LocalIndex row, PackType (&packs)[P]) const {
#pragma unroll
    for (int i = 0; i < P; ++i) {
      packs[i] = load_constant<PackType>(b_[i] + static_cast<std::uint64_t>(static_cast<std::uint32_t>(row)) *
                                                     operands_.b_stride);
    }
  }

  __device__ __forceinline__ void store(LocalIndex row, const PackType (&sums)[P]) const {
    char* to = operands_.c + static_cast<std::uint64_t>(static_cast<std::uint32_t>(row)) * operands_.c_stride +
               first_ * sizeof(PackType);
#pragma unroll
    for (int i = 0; i < P; ++i) {
      if (!is_there(i)) continue;
      char* const at = to + i * L * sizeof(PackType);
      if constexpr (std::is_same_v<Operands, StepOperands>) {
        store_pack(at, (first_ + i * L) * W, finished(row, i, at, sums[i]));
      } else {
        store_pack(at, (first_ + i * L) * W, sums[i]);
      }
    }
  }

 private:
  __device__ __forceinline__ bool is_there(int i) const {
    const int pack = first_ + i * L;
    return pack * W < operands_.columns && pack < (static_cast<int>(blockIdx.y) + 1) * operands_.packs_per_slab;
  }

  /// The step from the product to what is stored. Packs that reach past the columns read, with all blocks aligned
  /// as they are, no further than their row's stride.
  __device__ PackType finished(LocalIndex row, int i, const char* to, const PackType& product) const {
    const StepFactors& step = operands_.step;
    const std::uint64_t at = static_cast<std::uint32_t>(row);
    const T scale = step.scale == nullptr ? T(1) : __ldg(static_cast<const T*>(step.scale) + row);
    PackType result = zero_pack<PackType>();
    add_product(result, scale * static_cast<T>(step.alpha), product);
    if (step.right_hand_side != 0.0) {
      const char* const r = step.r + at * step.r_stride + (first_ + i * L) * sizeof(PackType);
      add_product(result, scale * static_cast<T>(step.right_hand_side), load_constant<PackType>(r));
    }
    if (step.beta != 0.0) {
      add_product(result, static_cast<T>(step.beta), load_constant<PackType>(b_[i] + at * operands_.b_stride));
    }
    if (step.betas != nullptr) {
      const PackType x = load_constant<PackType>(b_[i] + at * operands_.b_stride);
      const double* const factors = step.betas + (first_ + i * L) * W;
#pragma unroll
      for (int e = 0; e < W; ++e) result.element[e] += static_cast<T>(__ldg(factors + e)) * x.element[e];
    }
    if (step.gamma != 0.0) add_product(result, static_cast<T>(step.gamma), load_current<PackType>(to));
    return result;
  }

  /// `column` is that of the pack's first element; the last pack of a row may reach past the columns of C.
  __device__ __forceinline__ void store_pack(char* to, int column, const PackType& pack) const {
    if (W == 1 || column + W <= operands_.columns) {
      store_streaming(to, pack);
      return;
    }
    T* elements = reinterpret_cast<T*>(to);
#pragma unroll
    for (int e = 0; e < W; ++e) {
      if (column + e < operands_.columns) {
        elements[e] = pack.element[e];
      }
    }
  }

  const Operands& operands_;
  int first_;
  const char* b_[P];
};

/// Stores the rows of C that belong to empty rows of A: their products are zero, and get what the step adds. For
/// the blocks from `first_block` on.
template <int L, class Columns, class PackType, int P>
__device__ void clear_empty_rows(const EmptyRows& empty, unsigned first_block, const Columns& columns,
                                 const PackType (&zeros)[P]) {
  const unsigned rows_at_once = blockDim.x / L;
  const unsigned step = empty.blocks * rows_at_once;
  for (unsigned i = (blockIdx.x - first_block) * rows_at_once + threadIdx.x / L; i < empty.count; i += step) {
    columns.store(__ldg(empty.targets + i), zeros);
  }
}

}  // namespace block_eigs::cuda
