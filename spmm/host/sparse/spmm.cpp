#include "spmm/host/sparse/spmm.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "spmm/host/runtime/threads.hpp"
#include "spmm/host/sparse/row_columns.hpp"

namespace block_eigs::host {

namespace {

constexpr int widest = 8;
/// Rows that all groups of columns are computed of before the next rows: few enough that their nonzeros stay in
/// cache.
constexpr LocalIndex rows_a_turn = 16;

/// Longer rows are summed in pieces of so many nonzeros: one sum of thousands of like terms rounds the same way
/// again and again.
constexpr Offset longest_sum = 512;

/// Rows of B are fetched so many nonzeros, or rows of A, before their use.
constexpr Offset nonzeros_ahead = 16;
constexpr LocalIndex rows_ahead = 4;

template <std::size_t Bytes>
[[gnu::always_inline]] inline void fetch(const void* memory) {
  constexpr std::size_t cache_line = 64;
  unroll<static_cast<int>((Bytes + cache_line - 1) / cache_line)>(
      [&](auto line) { __builtin_prefetch(static_cast<const char*>(memory) + line * cache_line); });
}

template <class T>
bool is_plain(const ProductStep<T>& step) {
  return step.alpha == 1.0 && step.scale == nullptr && step.right_hand_side == 0.0 && !step.adds_x() &&
         step.gamma == 0.0;
}

/// A step, and its factors of columns as numbers of T.
template <class T>
struct HostStep : ProductStep<T> {
  const T* factors = nullptr;  ///< null for none
};

/// The step for row `row` of C, from the column on at which the views of B and R begin.
template <class T>
[[gnu::always_inline]] inline RowStep<T> step_of_row(const HostStep<T>& step, ConstBlockView<T> b,
                                                     std::ptrdiff_t row) {
  const T scale = step.scale == nullptr ? T(1) : step.scale[row];
  return {scale * static_cast<T>(step.alpha),
          scale * static_cast<T>(step.right_hand_side),
          static_cast<T>(step.beta),
          static_cast<T>(step.gamma),
          step.right_hand_side != 0.0 ? step.r.data + row * step.r.stride : nullptr,
          step.adds_x() ? b.data + row * b.stride : nullptr,
          step.factors};
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
template <Fetch fetching, class T, class Columns>
void multiply_group(const CsrView<T>& a, Position from, const Position& to, ConstBlockView<T> b, BlockView<T> c,
                    std::ptrdiff_t last, const HostStep<T>& step, T* carry) {
  const bool plain = is_plain(step);
  const auto row_of_b = [&](Offset k) {
    return b.data + static_cast<std::ptrdiff_t>(a.column_indices[k]) * b.stride;
  };
  // Of nonzeros of one row. In two sums where the registers hold them and memory does not hold up the arithmetic:
  // one sum would wait for itself. They are copied at the end because what finish() works on has a place in
  // memory.
  const auto product = [&](Offset begin, Offset end) __attribute__((always_inline)) {
    Columns columns;
    do {
      Columns sum;
      Columns second;
      Offset k = begin;
      begin = std::min(end, k + longest_sum);
      if constexpr (fetching == Fetch::last_of_row && Columns::is_narrow) {
        for (; k + 1 < begin; k += 2) {
          sum.add(a.values[k], row_of_b(k), last);
          second.add(a.values[k + 1], row_of_b(k + 1), last);
        }
      }
      for (; k < begin; ++k) {
        if constexpr (fetching == Fetch::every_row)
          fetch<sizeof sum>(row_of_b(std::min(k + nonzeros_ahead, a.nonzeros - 1)));
        sum.add(a.values[k], row_of_b(k), last);
      }
      columns.add(sum);
      if constexpr (fetching == Fetch::last_of_row && Columns::is_narrow) columns.add(second);
    } while (begin < end);
    return columns;
  };
  Offset begin = from.nonzero;
  for (LocalIndex row = from.row; row < to.row; ++row) {
    const Offset end = a.row_offsets[row + 1];
    if constexpr (fetching == Fetch::last_of_row) {
      const Offset ahead = a.row_offsets[std::min(row + rows_ahead, a.rows)] - 1;
      fetch<sizeof(Columns)>(row_of_b(std::max<Offset>(ahead, 0)));
    }
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
                          std::ptrdiff_t, const HostStep<T>&, T*);
  Kernel kernel;
  int first;
  std::ptrdiff_t last;
};

template <Fetch fetching, class T>
ColumnGroup<T> column_group(int cols, int group, int groups) {
  constexpr int width = Vector<T>::width;
  constexpr int half_bytes = sizeof(Vector<T>) / 2;
  constexpr int few = std::min(width - 1, 4);
  ColumnGroup<T> result{};
  if (cols <= few) {
    with_constant<few>(cols,
                       [&](auto count) { result.kernel = multiply_group<fetching, T, FewColumns<T, count>>; });
    return result;
  }
  if constexpr (few < width - 1) {
    if (cols < width)
      return {multiply_group<fetching, T, VectorColumns<T, 2, half_bytes>>, 0,
              cols - Vector<T, half_bytes>::width};
  }
  const auto [begin, end] = part_of(Vector<T>::count_for(cols), group, groups);
  with_constant<widest>(static_cast<int>(end - begin),
                        [&](auto count) { result.kernel = multiply_group<fetching, T, VectorColumns<T, count>>; });
  result.first = static_cast<int>(begin) * width;
  result.last = std::min(static_cast<int>(end) * width, cols) - width - result.first;
  return result;
}

/// Calls turn(from, to) for parts of a share that stay in cache, in order.
template <class T, class Turn>
void for_turns(const CsrView<T>& a, Position from, const Position& to, LocalIndex rows, Turn turn) {
  while (from.row < to.row || from.nonzero < to.nonzero) {
    Position stop = to;
    if (to.row - from.row > rows) {
      stop.row = from.row + rows;
      stop.nonzero = a.row_offsets[stop.row];
    }
    turn(from, stop);
    from = stop;
  }
}

template <class T>
void multiply_share(Fetch fetching, const CsrView<T>& a, Position from, const Position& to, ConstBlockView<T> b,
                    BlockView<T> c, const HostStep<T>& step, T* carry) {
  const int groups = (Vector<T>::count_for(c.cols) + widest - 1) / widest;
  const LocalIndex rows = groups > 1 ? rows_a_turn : std::numeric_limits<LocalIndex>::max();
  for_turns(a, from, to, rows, [&](const Position& start, const Position& stop) {
    for (int i = 0; i < groups; ++i) {
      const ColumnGroup<T> group = fetching == Fetch::every_row
                                       ? column_group<Fetch::every_row, T>(c.cols, i, groups)
                                       : column_group<Fetch::last_of_row, T>(c.cols, i, groups);
      HostStep<T> part = step;
      if (step.right_hand_side != 0.0) part.r.data += group.first;
      if (step.factors != nullptr) part.factors += group.first;
      group.kernel(a, start, stop, {b.data + group.first, b.rows, b.cols, b.stride},
                   {c.data + group.first, c.rows, c.cols, c.stride}, group.last, part, carry + group.first);
    }
  });
}

}  // namespace

template <class T>
std::unique_ptr<HostSpmmPlan> make_spmm_plan(const CsrView<T>& a, SpmmAlgorithm algorithm) {
  const std::int64_t work = a.rows + a.nonzeros;
  const int shares = share_count(work, threads());
  const Offset longest_whole_row = algorithm == SpmmAlgorithm::merge ? 0 : work / shares;
  return std::make_unique<HostSpmmPlan>(balance(a.row_offsets, a.rows, shares, longest_whole_row),
                                        fetching_for(a.row_offsets, a.column_indices, a.rows));
}

template <class T>
void multiply(HostSpmmPlan& plan, const CsrView<T>& a, ConstBlockView<T> b, BlockView<T> c,
              const ProductStep<T>& step, const Progress& progress, ProductSums<T>* sums) {
  plan.make_carries(static_cast<std::size_t>(c.cols) * sizeof(T));
  const std::vector<T> factors(step.betas.begin(), step.betas.end());
  const HostStep<T> own_step{step, factors.empty() ? nullptr : factors.data()};
  const int parts = std::min(threads(), plan.shares());
#pragma omp parallel for schedule(static, 1) num_threads(team_for(parts))
  for (int part = 0; part < parts; ++part) {
    const Range own = part_of(plan.shares(), part, parts);
    for (int share = static_cast<int>(own.begin); share < own.end; ++share) {
      T* const carry = reinterpret_cast<T*>(plan.carry(share));
      const auto turn = [&](const Position& from, const Position& to) {
        if (sums != nullptr) sums->before(part, from.row, to.row);
        multiply_share(plan.fetching(), a, from, to, b, c, own_step, carry);
        if (sums != nullptr) sums->after(part, from.row, to.row);
      };
      const LocalIndex rows = sums != nullptr ? ProductSums<T>::most_rows : std::numeric_limits<LocalIndex>::max();
      for_turns(a, plan.begin(share), plan.end(share), rows, turn);
      if (part == 0 && progress) progress();
    }
  }
  for (int share = 0; share < plan.shares(); ++share) {
    if (!carries(a, plan.begin(share), plan.end(share))) continue;
    const T* carry = reinterpret_cast<const T*>(plan.carry(share));
    const std::ptrdiff_t target = result_row(a, plan.end(share).row);
    const T factor = static_cast<T>(step.alpha) * (step.scale == nullptr ? T(1) : step.scale[target]);
    T* row = c.data + target * c.stride;
    for (LocalIndex j = 0; j < c.cols; ++j) row[j] += factor * carry[j];
    if (sums != nullptr) sums->add(0, target, factor, carry);
  }
}

template std::unique_ptr<HostSpmmPlan> make_spmm_plan(const CsrView<float>&, SpmmAlgorithm);
template std::unique_ptr<HostSpmmPlan> make_spmm_plan(const CsrView<double>&, SpmmAlgorithm);
template void multiply(HostSpmmPlan&, const CsrView<float>&, ConstBlockView<float>, BlockView<float>,
                       const ProductStep<float>&, const Progress&, ProductSums<float>*);
template void multiply(HostSpmmPlan&, const CsrView<double>&, ConstBlockView<double>, BlockView<double>,
                       const ProductStep<double>&, const Progress&, ProductSums<double>*);

}  // namespace block_eigs::host
