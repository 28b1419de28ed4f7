#pragma once

#include <cstddef>

#include "spmm/host/dense/vector.hpp"

// A row of a product in registers. All types here have the same members.
namespace block_eigs::host {

/// ProductStep for one row: factors that hold the row's scale, and where its row of R and of X begins.
template <class T>
struct RowStep {
  T alpha, right_hand_side, beta, gamma;
  const T* r;
  const T* x;
  const T* betas;  ///< a factor a column, beside beta; null for none
};

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
  /// All of the old row is read before any of the new one is stored: vectors may overlap.
  [[gnu::always_inline]] void finish(const RowStep<T>& step, const T* old, std::ptrdiff_t last) {
    const auto add_row = [&](T factor, const T* row) __attribute__((always_inline)) {
      if (factor != T(0)) add(factor, row, last);
    };
    unroll<Count>([&](auto v) __attribute__((always_inline)) { sum[v].lanes *= step.alpha; });
    add_row(step.right_hand_side, step.r);
    add_row(step.beta, step.x);
    if (step.betas != nullptr) add_by_columns(step.betas, step.x, last);
    add_row(step.gamma, old);
  }
  /// A factor for each column.
  [[gnu::always_inline]] void add_by_columns(const T* factors, const T* row, std::ptrdiff_t last) {
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
  static constexpr bool is_narrow = true;
  T sum[Count] = {};

  [[gnu::always_inline]] void add(T value, const T* row, std::ptrdiff_t) {
    unroll<Count>([&](auto j) __attribute__((always_inline)) { sum[j] += value * row[j]; });
  }
  [[gnu::always_inline]] void add(const FewColumns& other) {
    unroll<Count>([&](auto j) __attribute__((always_inline)) { sum[j] += other.sum[j]; });
  }
  [[gnu::always_inline]] void finish(const RowStep<T>& step, const T* old, std::ptrdiff_t last) {
    unroll<Count>([&](auto j) __attribute__((always_inline)) { sum[j] *= step.alpha; });
    if (step.right_hand_side != T(0)) add(step.right_hand_side, step.r, last);
    if (step.beta != T(0)) add(step.beta, step.x, last);
    if (step.betas != nullptr) add_by_columns(step.betas, step.x);
    if (step.gamma != T(0)) add(step.gamma, old, last);
  }
  [[gnu::always_inline]] void add_by_columns(const T* factors, const T* row) {
    unroll<Count>([&](auto j) __attribute__((always_inline)) { sum[j] += factors[j] * row[j]; });
  }
  [[gnu::always_inline]] void store(T* to, std::ptrdiff_t) const {
    unroll<Count>([&](auto j) __attribute__((always_inline)) { to[j] = sum[j]; });
  }
};

}  // namespace block_eigs::host
