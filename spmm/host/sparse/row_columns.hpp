#pragma once

#include <cstddef>
#include <utility>

#include "spmm/host/dense/vector.hpp"

// A row of a product in registers. All types here have the same members.
namespace block_eigs::host {

/// What a step adds to alpha A X, by bits.
struct Terms {
  static constexpr unsigned none = 0, scale = 1, r = 2, x = 4, betas = 8, old = 16;
  static constexpr unsigned any = 32;  ///< some of them: to be looked at row by row
};

/// What corrections, residuals, a smoother's first and later steps, and those of filters add.
using FrequentTerms =
    std::integer_sequence<unsigned, Terms::old, Terms::r, Terms::scale | Terms::r | Terms::x,
                          Terms::scale | Terms::r | Terms::x | Terms::old, Terms::x | Terms::old>;

/// ProductStep in the arithmetic of T, for a group of columns: rows of R and X begin at its first one, as factors
/// of columns do. Null for what is not there.
template <class T>
struct GroupStep {
  T alpha, right_hand_side, beta, gamma;
  const T* scale;
  const T* r;
  std::ptrdiff_t r_stride;
  const T* x;
  std::ptrdiff_t x_stride;
  const T* betas;

  unsigned terms() const {
    return (scale != nullptr ? Terms::scale : 0) | (r != nullptr ? Terms::r : 0) | (x != nullptr ? Terms::x : 0) |
           (betas != nullptr ? Terms::betas : 0) | (gamma != T(0) ? Terms::old : 0);
  }
  GroupStep from_column(std::ptrdiff_t first) const {
    GroupStep step = *this;
    if (r != nullptr) step.r += first;
    if (x != nullptr) step.x += first;
    if (betas != nullptr) step.betas += first;
    return step;
  }
  /// Whether row products are to have that term, `terms` being known or any.
  template <unsigned terms, unsigned term>
  [[gnu::always_inline]] bool has() const {
    if constexpr (terms != Terms::any) return (terms & term) != 0;
    if constexpr (term == Terms::scale) return scale != nullptr;
    if constexpr (term == Terms::r) return r != nullptr;
    if constexpr (term == Terms::x) return x != nullptr;
    if constexpr (term == Terms::betas) return betas != nullptr;
    return gamma != T(0);
  }
};

/// Makes `columns`, the row of a product, what the step makes of it. All of the old row is read before any of the
/// new one is stored: vectors may overlap.
template <unsigned terms, class T, class Columns>
[[gnu::always_inline]] inline void finish(Columns& columns, const GroupStep<T>& step, std::ptrdiff_t row,
                                          const T* old, std::ptrdiff_t last) {
  const T scale = step.template has<terms, Terms::scale>() ? step.scale[row] : T(1);
  columns.scale(scale * step.alpha);
  if (step.template has<terms, Terms::r>())
    columns.add(scale * step.right_hand_side, step.r + row * step.r_stride, last);
  if (step.template has<terms, Terms::x>()) columns.add(step.beta, step.x + row * step.x_stride, last);
  if (step.template has<terms, Terms::betas>()) columns.add(step.betas, step.x + row * step.x_stride, last);
  if (step.template has<terms, Terms::old>()) columns.add(step.gamma, old, last);
}

/// The product of a row of A with `Count` vectors of `Bytes` of columns of B, in registers. The last vector starts
/// at column `last`: it may overlap the one before.
template <class T, int Count, int Bytes = 32>
struct VectorColumns {
  using Lanes = Vector<T, Bytes>;
  static constexpr int width = Lanes::width;
  /// Whether the registers hold it twice.
  static constexpr bool is_narrow = Count <= 4;
  Lanes sum[Count];

  [[gnu::always_inline]] void add(T value, const T* row, std::ptrdiff_t last) {
    unroll<Count>([&](auto v) __attribute__((always_inline)) {
      Lanes x;
      x.load(row + (v == Count - 1 ? last : v * width));
      sum[v].add_product(value, x);
    });
  }
  [[gnu::always_inline]] void add(const VectorColumns& other) {
    unroll<Count>([&](auto v) __attribute__((always_inline)) { sum[v].lanes += other.sum[v].lanes; });
  }
  [[gnu::always_inline]] void scale(T factor) {
    unroll<Count>([&](auto v) __attribute__((always_inline)) { sum[v].lanes *= factor; });
  }
  /// A factor for each column.
  [[gnu::always_inline]] void add(const T* factors, const T* row, std::ptrdiff_t last) {
    unroll<Count>([&](auto v) __attribute__((always_inline)) {
      const std::ptrdiff_t at = v == Count - 1 ? last : v * width;
      Lanes factor;
      Lanes x;
      factor.load(factors + at);
      x.load(row + at);
      sum[v].lanes += factor.lanes * x.lanes;
    });
  }
  [[gnu::always_inline]] void store(T* to, std::ptrdiff_t last) const {
    unroll<Count>([&](auto v)
                      __attribute__((always_inline)) { sum[v].store(to + (v == Count - 1 ? last : v * width)); });
  }
};

/// As VectorColumns for `Count` columns that do not fill a vector.
template <class T, int Count>
struct FewColumns {
  /// Two sums of one column each become a vector that is put together element by element.
  static constexpr bool is_narrow = Count > 1;
  T sum[Count] = {};

  [[gnu::always_inline]] void add(T value, const T* row, std::ptrdiff_t) {
    unroll<Count>([&](auto j) __attribute__((always_inline)) { sum[j] += value * row[j]; });
  }
  [[gnu::always_inline]] void add(const FewColumns& other) {
    unroll<Count>([&](auto j) __attribute__((always_inline)) { sum[j] += other.sum[j]; });
  }
  [[gnu::always_inline]] void scale(T factor) {
    unroll<Count>([&](auto j) __attribute__((always_inline)) { sum[j] *= factor; });
  }
  [[gnu::always_inline]] void add(const T* factors, const T* row, std::ptrdiff_t) {
    unroll<Count>([&](auto j) __attribute__((always_inline)) { sum[j] += factors[j] * row[j]; });
  }
  [[gnu::always_inline]] void store(T* to, std::ptrdiff_t) const {
    unroll<Count>([&](auto j) __attribute__((always_inline)) { to[j] = sum[j]; });
  }
};

}  // namespace block_eigs::host
