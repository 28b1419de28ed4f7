#include "spmm/host/spmm.hpp"

#include <algorithm>
#include <array>

#include "spmm/host/threads.hpp"
#include "spmm/host/vector.hpp"

namespace block_eigs::host {

namespace {

constexpr int widest = 8;
/// Rows that all groups of columns are computed of before the next rows: few enough that their nonzeros stay in
/// cache.
constexpr LocalIndex rows_a_turn = 16;

/// Rows of B are fetched this many nonzeros before their use: where the columns are random, nothing else does.
constexpr Offset nonzeros_ahead = 16;

template <std::size_t Bytes>
[[gnu::always_inline]] inline void fetch(const void* memory) {
  constexpr std::size_t cache_line = 64;
  unroll<static_cast<int>((Bytes + cache_line - 1) / cache_line)>(
      [&](auto line) { __builtin_prefetch(static_cast<const char*>(memory) + line * cache_line); });
}

/// ProductStep for one row: factors that hold the row's scale, and where its row of R and of X begins.
template <class T>
struct RowStep {
  T product, right_hand_side, same, previous;
  const T* r;
  const T* x;
};

/// The product of a row of A with `Count` vectors of columns of B, in registers. The last vector starts at column
/// `last`: it may overlap the one before.
template <class T, int Count>
struct VectorColumns {
  static constexpr int width = Vector<T>::width;
  Vector<T> sum[Count];

  [[gnu::always_inline]] void add(T value, const T* row, std::ptrdiff_t last) {
    unroll<Count>([&](auto v) {
      Vector<T> x;
      x.load(row + (v == Count - 1 ? last : v * width));
      sum[v].add_product(value, x);
    });
  }
  /// All of the old row is read before any of the new one is stored: vectors may overlap.
  [[gnu::always_inline]] void finish(const RowStep<T>& step, const T* old, std::ptrdiff_t last) {
    const auto add_row = [&](T factor, const T* row) {
      if (factor != T(0)) add(factor, row, last);
    };
    unroll<Count>([&](auto v) { sum[v].lanes *= step.product; });
    add_row(step.right_hand_side, step.r);
    add_row(step.same, step.x);
    add_row(step.previous, old);
  }
  [[gnu::always_inline]] void store(T* to, std::ptrdiff_t last) const {
    unroll<Count>([&](auto v) { sum[v].store(to + (v == Count - 1 ? last : v * width)); });
  }
};

/// As VectorColumns for `Count` columns that do not fill a vector.
template <class T, int Count>
struct FewColumns {
  T sum[Count] = {};

  [[gnu::always_inline]] void add(T value, const T* row, std::ptrdiff_t) {
    unroll<Count>([&](auto j) { sum[j] += value * row[j]; });
  }
  [[gnu::always_inline]] void finish(const RowStep<T>& step, const T* old, std::ptrdiff_t last) {
    unroll<Count>([&](auto j) { sum[j] *= step.product; });
    if (step.right_hand_side != T(0)) add(step.right_hand_side, step.r, last);
    if (step.same != T(0)) add(step.same, step.x, last);
    if (step.previous != T(0)) add(step.previous, old, last);
  }
  [[gnu::always_inline]] void store(T* to, std::ptrdiff_t) const {
    unroll<Count>([&](auto j) { to[j] = sum[j]; });
  }
};

template <class T>
bool is_plain(const ProductStep<T>& step) {
  return step.product == 1.0 && step.scale == nullptr && step.right_hand_side == 0.0 && step.same == 0.0 &&
         step.previous == 0.0;
}

/// The step for row `row` of C, from the column on at which the views of B and R begin.
template <class T>
[[gnu::always_inline]] inline RowStep<T> step_of_row(const ProductStep<T>& step, ConstBlockView<T> b,
                                                     std::ptrdiff_t row) {
  const T scale = step.scale == nullptr ? T(1) : step.scale[row];
  return {scale * static_cast<T>(step.product),
          scale * static_cast<T>(step.right_hand_side),
          static_cast<T>(step.same),
          static_cast<T>(step.previous),
          step.right_hand_side != 0.0 ? step.r.data + row * step.r.stride : nullptr,
          step.same != 0.0 ? b.data + row * b.stride : nullptr};
}

/// Whether a share ends inside a row, so that another one writes that row.
template <class T>
bool carries(const CsrView<T>& a, const Position& from, const Position& to) {
  return to.row < a.rows && to.nonzero > std::max(from.nonzero, a.row_offsets[to.row]);
}

template <class T>
LocalIndex result_row(const CsrView<T>& a, LocalIndex row) {
  return a.row_map == nullptr ? row : a.row_map[row];
}

/// Rows from `from` to `to` times a group of columns. The part of a row that is not finished goes to `carry`.
template <class T, class Columns>
void multiply_group(const CsrView<T>& a, Position from, const Position& to, ConstBlockView<T> b, BlockView<T> c,
                    std::ptrdiff_t last, const ProductStep<T>& step, T* carry) {
  const bool plain = is_plain(step);
  const auto product = [&](Offset begin, Offset end) {
    Columns columns;
    for (Offset k = begin; k < end; ++k) {
      const std::ptrdiff_t ahead = a.column_indices[std::min(k + nonzeros_ahead, a.nonzeros - 1)];
      fetch<sizeof columns>(b.data + ahead * b.stride);
      columns.add(a.values[k], b.data + static_cast<std::ptrdiff_t>(a.column_indices[k]) * b.stride, last);
    }
    return columns;
  };
  Offset begin = from.nonzero;
  for (LocalIndex row = from.row; row < to.row; ++row) {
    const Offset end = a.row_offsets[row + 1];
    Columns columns = product(begin, end);
    const std::ptrdiff_t target = result_row(a, row);
    T* const to_row = c.data + target * c.stride;
    if (!plain) columns.finish(step_of_row(step, b, target), to_row, last);
    columns.store(to_row, last);
    begin = end;
  }
  if (carries(a, from, to)) product(begin, to.nonzero).store(carry, last);
}

/// Columns `first` .. that go through the registers together.
template <class T>
struct ColumnGroup {
  using Kernel = void (*)(const CsrView<T>&, Position, const Position&, ConstBlockView<T>, BlockView<T>,
                          std::ptrdiff_t, const ProductStep<T>&, T*);
  Kernel kernel;
  int first;
  std::ptrdiff_t last;
};

template <class T>
ColumnGroup<T> column_group(int cols, int group, int groups) {
  constexpr int width = Vector<T>::width;
  ColumnGroup<T> result{};
  if (cols < width) {
    with_constant<width - 1>(cols, [&](auto count) { result.kernel = multiply_group<T, FewColumns<T, count>>; });
    return result;
  }
  const auto [begin, end] = part_of(Vector<T>::count_for(cols), group, groups);
  with_constant<widest>(static_cast<int>(end - begin),
                        [&](auto count) { result.kernel = multiply_group<T, VectorColumns<T, count>>; });
  result.first = static_cast<int>(begin) * width;
  result.last = std::min(static_cast<int>(end) * width, cols) - width - result.first;
  return result;
}

template <class T>
void multiply_share(const CsrView<T>& a, Position from, const Position& to, ConstBlockView<T> b, BlockView<T> c,
                    const ProductStep<T>& step, T* carry) {
  const int groups = (Vector<T>::count_for(c.cols) + widest - 1) / widest;
  while (from.row < to.row || from.nonzero < to.nonzero) {
    Position stop = to;
    if (groups > 1 && to.row - from.row > rows_a_turn) {
      stop.row = from.row + rows_a_turn;
      stop.nonzero = a.row_offsets[stop.row];
    }
    for (int i = 0; i < groups; ++i) {
      const ColumnGroup<T> group = column_group<T>(c.cols, i, groups);
      ProductStep<T> part = step;
      if (step.right_hand_side != 0.0) part.r.data += group.first;
      group.kernel(a, from, stop, {b.data + group.first, b.rows, b.cols, b.stride},
                   {c.data + group.first, c.rows, c.cols, c.stride}, group.last, part, carry + group.first);
    }
    from = stop;
  }
}

}  // namespace

template <class T>
std::unique_ptr<HostSpmmPlan> make_spmm_plan(const CsrView<T>& a, SpmmAlgorithm algorithm) {
  const std::int64_t work = a.rows + a.nonzeros;
  const int shares = share_count(work, threads());
  const Offset longest_whole_row = algorithm == SpmmAlgorithm::merge ? 0 : work / shares;
  return std::make_unique<HostSpmmPlan>(balance(a.row_offsets, a.rows, shares, longest_whole_row));
}

template <class T>
void multiply(HostSpmmPlan& plan, const CsrView<T>& a, ConstBlockView<T> b, BlockView<T> c,
              const ProductStep<T>& step, const Progress& progress) {
  plan.make_carries(static_cast<std::size_t>(c.cols) * sizeof(T));
  const int parts = threads();
#pragma omp parallel for schedule(static, 1) num_threads(parts)
  for (int part = 0; part < parts; ++part) {
    const Range own = part_of(plan.shares(), part, parts);
    for (int share = static_cast<int>(own.begin); share < own.end; ++share) {
      multiply_share(a, plan.begin(share), plan.end(share), b, c, step, reinterpret_cast<T*>(plan.carry(share)));
      if (part == 0 && progress) progress();
    }
  }
  for (int share = 0; share < plan.shares(); ++share) {
    if (!carries(a, plan.begin(share), plan.end(share))) continue;
    const T* carry = reinterpret_cast<const T*>(plan.carry(share));
    const std::ptrdiff_t target = result_row(a, plan.end(share).row);
    const T factor = static_cast<T>(step.product) * (step.scale == nullptr ? T(1) : step.scale[target]);
    T* row = c.data + target * c.stride;
    for (LocalIndex j = 0; j < c.cols; ++j) row[j] += factor * carry[j];
  }
}

template std::unique_ptr<HostSpmmPlan> make_spmm_plan(const CsrView<float>&, SpmmAlgorithm);
template std::unique_ptr<HostSpmmPlan> make_spmm_plan(const CsrView<double>&, SpmmAlgorithm);
template void multiply(HostSpmmPlan&, const CsrView<float>&, ConstBlockView<float>, BlockView<float>,
                       const ProductStep<float>&, const Progress&);
template void multiply(HostSpmmPlan&, const CsrView<double>&, ConstBlockView<double>, BlockView<double>,
                       const ProductStep<double>&, const Progress&);

}  // namespace block_eigs::host
