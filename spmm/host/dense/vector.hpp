#pragma once

#include <cstddef>
#include <utility>

// Vectors of 32 bytes: one register with AVX, several elsewhere, where the compiler splits them.
namespace block_eigs::host {

/// Of a vector that arithmetic alone holds up, not memory: the processor's widest register.
#ifdef __AVX512F__
constexpr int wide_bytes = 64;
#else
constexpr int wide_bytes = 32;
#endif

/// As many T as fill `Bytes`. Everything here is inlined: how vectors are passed depends on the processor.
template <class T, int Bytes = 32>
struct Vector {
  using Lanes [[gnu::vector_size(Bytes)]] = T;
  using Unaligned [[gnu::vector_size(Bytes), gnu::aligned(alignof(T)), gnu::may_alias]] = T;
  static constexpr int width = Bytes / static_cast<int>(sizeof(T));

  Lanes lanes{};

  /// From and to memory of any alignment.
  [[gnu::always_inline]] void load(const T* from) { lanes = *reinterpret_cast<const Unaligned*>(from); }
  [[gnu::always_inline]] void store(T* to) const { *reinterpret_cast<Unaligned*>(to) = lanes; }
  /// As load, once and into a register: compilers like to repeat a plain load in every instruction that uses it.
  [[gnu::always_inline]] void load_once(const T* from) {
    lanes = *reinterpret_cast<const volatile Unaligned*>(from);
  }
  /// The first `count` < width elements alone; the others count as zero.
  [[gnu::always_inline]] void load_first(const T* from, int count) {
    for (int i = 0; i < width; ++i) lanes[i] = i < count ? from[i] : T(0);
  }
  [[gnu::always_inline]] void store_first(T* to, int count) const {
    for (int i = 0; i < count; ++i) to[i] = lanes[i];
  }
  /// this += factor * x
  [[gnu::always_inline]] void add_product(T factor, const Vector& x) { lanes += factor * x.lanes; }

  static constexpr int count_for(int columns) { return (columns + width - 1) / width; }
};

/// Most rows (or columns) that go through registers with `vectors` vectors of `bytes`: their products must stay
/// below the number of registers, which are twice as many where they are wider.
constexpr int height_for(int vectors, int bytes) {
  if (bytes > 32) return 8;
  return vectors == 1 ? 8 : vectors == 2 ? 6 : 4;
}

/// f(0), f(1), ..., f(Count - 1) with compile-time arguments. Registers in an array stay registers this way, where
/// a loop over them may be unrolled too late; and only where all of this is inlined, which compilers leave undone
/// once a function has become large.
template <int Count, class Function>
[[gnu::always_inline]] inline void unroll(Function&& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
    (f(std::integral_constant<int, I>{}), ...);
  }
  (std::make_integer_sequence<int, Count>{});
}

/// Calls f(std::integral_constant<int, n>) for 1 <= n <= Max: the one place where a run-time count becomes a
/// compile-time one.
template <int Max, class Function>
[[gnu::always_inline]] inline void with_constant(int n, Function&& f) {
  [&]<int... Less>(std::integer_sequence<int, Less...>) {
    (void)((n == Less + 1 ? (f(std::integral_constant<int, Less + 1>{}), true) : false) || ...);
  }
  (std::make_integer_sequence<int, Max>{});
}

}  // namespace block_eigs::host
