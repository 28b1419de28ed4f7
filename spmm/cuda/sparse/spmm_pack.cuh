#pragma once

#include <cstdint>

#include "spmm/cuda/dense/async_copy.cuh"

namespace block_eigs::cuda {

/// W neighbouring elements of a row of B or C: what one thread loads, holds and stores at once.
template <class T, int W>
struct alignas(W * sizeof(T)) Pack {
  T element[W];
};

/// The machine word that moves a Pack of that many bytes.
template <int Bytes>
struct WordOf;
template <>
struct WordOf<4> {
  using type = int;
};
template <>
struct WordOf<8> {
  using type = int2;
};
template <>
struct WordOf<16> {
  using type = int4;
};

template <class P>
using Word = typename WordOf<sizeof(P)>::type;

template <class P>
__device__ __forceinline__ P zero_pack() {
  P result;
#pragma unroll
  for (auto& element : result.element) element = 0;
  return result;
}

/// Through the read-only cache.
template <class P>
__device__ __forceinline__ P load_constant(const char* from) {
  return __builtin_bit_cast(P, __ldg(reinterpret_cast<const Word<P>*>(from)));
}

template <class P>
__device__ __forceinline__ P load_current(const char* from) {
  return __builtin_bit_cast(P, *reinterpret_cast<const Word<P>*>(from));
}

/// From L2, past L1: for what other thread blocks of the same kernel wrote.
template <class P>
__device__ __forceinline__ P load_shared_by_blocks(const P* from) {
  return __builtin_bit_cast(P, __ldcg(reinterpret_cast<const Word<P>*>(from)));
}

/// C is not read again by this kernel, so it makes room for B first.
template <class P>
__device__ __forceinline__ void store_streaming(char* to, const P& pack) {
  __stcs(reinterpret_cast<Word<P>*>(to), __builtin_bit_cast(Word<P>, pack));
}

/// For A, which streams by once: it leaves L2 before B does.
__device__ __forceinline__ std::uint64_t streaming_policy() {
  std::uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

/// Starts the copy of one element into shared memory; close_copies() and wait_for_copies() as for other copies.
template <class X>
__device__ __forceinline__ void copy_streaming(X* shared, const X* global, std::uint64_t policy) {
  static_assert(sizeof(X) == 4 || sizeof(X) == 8);
  const std::uint32_t target = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], %2, %3;" ::"r"(target), "l"(global),
               "n"(sizeof(X)), "l"(policy)
               : "memory");
}

/// The same for 16 bytes, past L1. Both addresses are multiples of 16.
__device__ __forceinline__ void copy_streaming_piece(void* shared, const void* global, std::uint64_t policy) {
  const std::uint32_t target = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(target), "l"(global),
               "l"(policy)
               : "memory");
}

template <class T, int W>
__device__ __forceinline__ void add_product(Pack<T, W>& sum, T factor, const Pack<T, W>& pack) {
#pragma unroll
  for (int e = 0; e < W; ++e) sum.element[e] += factor * pack.element[e];
}

template <class T, int W>
__device__ __forceinline__ void add(Pack<T, W>& sum, const Pack<T, W>& pack) {
#pragma unroll
  for (int e = 0; e < W; ++e) sum.element[e] += pack.element[e];
}

/// Adds up the packs of the lanes that differ in the lane bits Lowest .. Lanes / 2; every one of them gets the
/// sum. All 32 lanes take part.
template <int Lowest, int Lanes, class T, int W>
__device__ __forceinline__ void add_across_lanes(Pack<T, W>& sum) {
#pragma unroll
  for (int bit = Lowest; bit < Lanes; bit *= 2) {
#pragma unroll
    for (int e = 0; e < W; ++e) sum.element[e] += __shfl_xor_sync(~0u, sum.element[e], bit);
  }
}

}  // namespace block_eigs::cuda
