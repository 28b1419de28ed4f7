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

/// For all columns. `betas` are those of the step, in the arithmetic of T.
template <class T>
GroupStep<T> group_step(const ProductStep<T>& step, const std::vector<T>& betas, ConstBlockView<T> b) {
  return {static_cast<T>(step.alpha),
          static_cast<T>(step.right_hand_side),
          static_cast<T>(step.beta),
          static_cast<T>(step.gamma),
          step.scale,
          step.right_hand_side != 0.0 ? step.r.data : nullptr,
          step.r.stride,
          step.adds_x() ? b.data : nullptr,
          b.stride,
          betas.empty() ? nullptr : betas.data()};
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

template <class T>
[[gnu::always_inline]] inline const T* row_of_b(const CsrView<T>& a, Offset k, ConstBlockView<T> b) {
  return b.data + static_cast<std::ptrdiff_t>(a.column_indices[k]) * b.stride;
}

/// The product of nonzeros [k, end) of one row. In two sums where the registers hold them and memory does not hold
/// up the arithmetic: one sum would wait for itself.
template <Fetch fetching, class Columns, class T>
[[gnu::always_inline]] inline Columns sum_of(const CsrView<T>& a, Offset k, Offset end, ConstBlockView<T> b,
                                             std::ptrdiff_t last) {
  constexpr bool twice = fetching == Fetch::last_of_row && Columns::is_narrow;
  Columns sum;
  Columns second;
  if constexpr (twice) {
    for (; k + 1 < end; k += 2) {
      sum.add(a.values[k], row_of_b(a, k, b), last);
      second.add(a.values[k + 1], row_of_b(a, k + 1, b), last);
    }
  }
  for (; k < end; ++k) {
    if constexpr (fetching == Fetch::every_row)
      fetch<sizeof sum>(row_of_b(a, std::min(k + nonzeros_ahead, a.nonzeros - 1), b));
    sum.add(a.values[k], row_of_b(a, k, b), last);
  }
  if constexpr (twice) sum.add(second);
  return sum;
}

/// The same for rows of any length. Not inlined: the loop over short rows stays small.
template <Fetch fetching, class Columns, class T>
[[gnu::noinline]] void sum_in_pieces(CsrView<T> a, Offset begin, Offset end, ConstBlockView<T> b,
                                     std::ptrdiff_t last, T* result) {
  Columns columns;
  for (; begin < end; begin += longest_sum)
    columns.add(sum_of<fetching, Columns>(a, begin, std::min(end, begin + longest_sum), b, last));
  columns.store(result, last);
}

/// Rows from `from` to `to` times a group of columns, and what `terms` of the step add. Many rows are short, so
/// that what is asked of each counts: terms are known when this is compiled, and views and steps are copies of its
/// own, which nothing that it writes can change. The part of a row that is not finished goes to `carry`.
template <Fetch fetching, class Columns, unsigned terms, class T>
void multiply_group(CsrView<T> a, Position from, Position to, ConstBlockView<T> b, BlockView<T> c,
                    std::ptrdiff_t last, GroupStep<T> step, T* carry) {
  Offset begin = from.nonzero;
  for (LocalIndex row = from.row; row < to.row; ++row) {
    const Offset end = a.row_offsets[row + 1];
    if constexpr (fetching == Fetch::last_of_row) {
      const Offset ahead = a.row_offsets[std::min(row + rows_ahead, a.rows)] - 1;
      fetch<sizeof(Columns)>(row_of_b(a, std::max<Offset>(ahead, 0), b));
    }
    Columns columns;
    if (end - begin <= longest_sum) [[likely]] {
      columns = sum_of<fetching, Columns>(a, begin, end, b, last);
    } else {
      // By way of memory of its own, as registers with an address are none.
      std::array<T, sizeof(Columns) / sizeof(T)> sums;
      sum_in_pieces<fetching, Columns>(a, begin, end, b, last, sums.data());
      columns.add(T(1), sums.data(), last);
    }
    const std::ptrdiff_t target = result_row(a, row);
    T* const to_row = c.data + target * c.stride;
    if constexpr (terms != Terms::none) finish<terms>(columns, step, target, to_row, last);
    columns.store(to_row, last);
    begin = end;
  }
  if (carries(a, from, to)) sum_in_pieces<fetching, Columns>(a, begin, to.nonzero, b, last, carry);
}

template <class T>
using GroupKernel = void (*)(CsrView<T>, Position, Position, ConstBlockView<T>, BlockView<T>, std::ptrdiff_t,
                             GroupStep<T>, T*);

/// The kernel for these terms: one of its own for those that multigrid and filters multiply with.
template <Fetch fetching, class Columns, class T>
GroupKernel<T> kernel_for(const GroupStep<T>& step) {
  const unsigned terms = step.terms();
  if (terms == Terms::none && step.alpha == T(1)) return multiply_group<fetching, Columns, Terms::none, T>;
  GroupKernel<T> kernel = multiply_group<fetching, Columns, Terms::any, T>;
  if constexpr (fetching == Fetch::last_of_row) {
    const auto choose = [&]<unsigned... known>(std::integer_sequence<unsigned, known...>) {
      ((terms == known ? void(kernel = multiply_group<fetching, Columns, known, T>) : void()), ...);
    };
    choose(FrequentTerms{});
  }
  return kernel;
}

/// Columns `first` .. that go through the registers together.
template <class T>
struct ColumnGroup {
  GroupKernel<T> kernel;
  int first;
  std::ptrdiff_t last;
};

template <Fetch fetching, class T>
ColumnGroup<T> column_group(int cols, int group, int groups, const GroupStep<T>& step) {
  constexpr int width = Vector<T>::width;
  constexpr int half_bytes = sizeof(Vector<T>) / 2;
  constexpr int half = Vector<T, half_bytes>::width;
  ColumnGroup<T> result{};
  if (cols < half) {
    with_constant<half - 1>(cols,
                            [&](auto count) { result.kernel = kernel_for<fetching, FewColumns<T, count>>(step); });
    return result;
  }
  if (cols < width) {
    with_constant<2>(Vector<T, half_bytes>::count_for(cols), [&](auto count) {
      result.kernel = kernel_for<fetching, VectorColumns<T, count, half_bytes>>(step);
    });
    result.last = cols - half;
    return result;
  }
  const auto [begin, end] = part_of(Vector<T>::count_for(cols), group, groups);
  with_constant<widest>(static_cast<int>(end - begin),
                        [&](auto count) { result.kernel = kernel_for<fetching, VectorColumns<T, count>>(step); });
  result.first = static_cast<int>(begin) * width;
  result.last = std::min(static_cast<int>(end) * width, cols) - width - result.first;
  return result;
}

/// What to ask for ahead: of a block that the second cache of a core holds no more than of one that is used in
/// order. Without nonzeros there is no such row.
template <class T>
Fetch fetching_of(const HostSpmmPlan& plan, const CsrView<T>& a, ConstBlockView<T> b) {
  constexpr std::size_t second_cache = std::size_t{512} << 10;
  const std::size_t bytes = static_cast<std::size_t>(a.columns) * static_cast<std::size_t>(b.stride) * sizeof(T);
  return a.nonzeros > 0 && bytes <= second_cache ? Fetch::last_of_row : plan.fetching();
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
                    BlockView<T> c, const GroupStep<T>& step, T* carry) {
  const int groups = (Vector<T>::count_for(c.cols) + widest - 1) / widest;
  const LocalIndex rows = groups > 1 ? rows_a_turn : std::numeric_limits<LocalIndex>::max();
  for_turns(a, from, to, rows, [&](const Position& start, const Position& stop) {
    for (int i = 0; i < groups; ++i) {
      const ColumnGroup<T> group = fetching == Fetch::every_row
                                       ? column_group<Fetch::every_row>(c.cols, i, groups, step)
                                       : column_group<Fetch::last_of_row>(c.cols, i, groups, step);
      group.kernel(a, start, stop, {b.data + group.first, b.rows, b.cols, b.stride},
                   {c.data + group.first, c.rows, c.cols, c.stride}, group.last, step.from_column(group.first),
                   carry + group.first);
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
  const std::vector<T> betas(step.betas.begin(), step.betas.end());
  const GroupStep<T> own_step = group_step(step, betas, b);
  const Fetch fetching = fetching_of(plan, a, b);
  const int parts = std::min(threads(), plan.shares());
#pragma omp parallel for schedule(static, 1) num_threads(team_for(parts))
  for (int part = 0; part < parts; ++part) {
    const Range own = part_of(plan.shares(), part, parts);
    for (int share = static_cast<int>(own.begin); share < own.end; ++share) {
      T* const carry = reinterpret_cast<T*>(plan.carry(share));
      const auto turn = [&](const Position& from, const Position& to) {
        if (sums != nullptr) sums->before(part, from.row, to.row);
        multiply_share(fetching, a, from, to, b, c, own_step, carry);
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
