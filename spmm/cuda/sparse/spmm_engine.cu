#include "spmm/cuda/sparse/spmm_engine.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "spmm/cuda/sparse/spmm_algorithms.hpp"
#include "spmm/cuda/sparse/spmm_bundles.hpp"
#include "spmm/cuda/sparse/spmm_launch.cuh"
#include "spmm/cuda/sparse/spmm_rule.hpp"
#include "spmm/cuda/sparse/spmm_shape.cuh"
#include "spmm/error.hpp"

namespace block_eigs::cuda {

namespace {

template <class X>
const X* or_else(const Buffer<X>& own, const X* other) {
  return own.size() > 0 ? own.data() : other;
}

void take(Bundles bundles, CudaSpmmPlan& plan) {
  plan.bundled = true;
  plan.bundles = bundles.count;
  plan.thick = bundles.thick;
  plan.statistics.columns_total = bundles.columns_total;
  plan.most_columns = std::move(bundles.most_columns);
  plan.most_values = std::move(bundles.most_values);
  plan.column_offsets = std::move(bundles.column_offsets);
  plan.value_offsets = std::move(bundles.value_offsets);
  plan.first_rows = std::move(bundles.first_rows);
  plan.columns = std::move(bundles.columns);
}

template <class T>
RowBundles<T> bundles_of(const CudaSpmmPlan& plan, const CsrView<T>& a) {
  RowBundles<T> bundles;
  bundles.count = plan.bundles;
  bundles.columns_total = plan.statistics.columns_total;
  bundles.column_offsets = or_else(plan.column_offsets, a.row_offsets);
  bundles.value_offsets = or_else(plan.value_offsets, bundles.column_offsets);
  bundles.first_rows = or_else(plan.first_rows, static_cast<const LocalIndex*>(nullptr));
  bundles.targets = or_else(plan.targets, a.row_map);
  bundles.columns = or_else(plan.columns, a.column_indices);
  bundles.values = a.values;
  return bundles;
}

std::uint32_t bytes_of_stride(LocalIndex stride, std::size_t size) {
  const std::size_t bytes = static_cast<std::size_t>(stride) * size;
  if (bytes > 0xffffffffu) throw RunError("SpMM: rows of B or C lie more than 4 GiB apart");
  return static_cast<std::uint32_t>(bytes);
}

template <class T>
bool is_plain(const ProductStep<T>& step) {
  return step.alpha == 1.0 && step.right_hand_side == 0.0 && !step.adds_x() && step.gamma == 0.0 &&
         step.scale == nullptr;
}

template <class T>
StepFactors factors_of(const ProductStep<T>& step, const double* betas) {
  return {step.alpha,
          step.right_hand_side,
          step.beta,
          step.gamma,
          betas,
          step.scale,
          reinterpret_cast<const char*>(step.r.data),
          bytes_of_stride(step.r.stride, sizeof(T))};
}

/// Whether rows without nonzeros stay as they are.
template <class T>
bool only_adds(const ProductStep<T>& step) {
  return step.gamma == 1.0 && !step.adds_x() && step.right_hand_side == 0.0;
}

template <class T>
bool allows_wide_access(const T* data, LocalIndex stride) {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 &&
         static_cast<std::size_t>(stride) * sizeof(T) % 16 == 0;
}

int of_current_device(cudaDeviceAttr attribute) {
  int ordinal = 0, value = 0;
  check(cudaGetDevice(&ordinal), "device of the SpMM");
  check(cudaDeviceGetAttribute(&value, attribute, ordinal), "attributes of the device");
  return value;
}

/// A and B that are small are asked for as a whole at once; so is a very small B beside a large A. Larger ones are
/// in use long before all of them has arrived.
constexpr std::uint64_t prefetch_of_a = 8 << 20;
constexpr std::uint64_t prefetch_of_b = 8 << 20;
constexpr std::uint64_t prefetch_of_b_alone = 1 << 20;
constexpr std::uint64_t prefetch_by_more_blocks = 1 << 20;  // of A

void add_range(Prefetch& prefetch, int i, const void* data, std::uint64_t bytes, std::uint64_t limit) {
  const std::uint64_t begin = (reinterpret_cast<std::uintptr_t>(data) + 15) / 16 * 16;
  const std::uint64_t end = (reinterpret_cast<std::uintptr_t>(data) + bytes) / 16 * 16;
  if (bytes > limit || end <= begin) return;
  prefetch.begin[i] = reinterpret_cast<const char*>(begin);
  prefetch.end[i] = reinterpret_cast<const char*>(end);
  prefetch.share[i] = static_cast<std::uint32_t>(((end - begin) / prefetch.blocks + 127) / 128 * 128);
}

/// From the first element of a block to behind the last one.
template <class T>
std::uint64_t bytes_across(const ConstBlockView<T>& block) {
  if (block.rows == 0) return 0;
  return (static_cast<std::uint64_t>(block.rows - 1) * static_cast<std::uint64_t>(block.stride) +
          static_cast<std::uint64_t>(block.cols)) *
         sizeof(T);
}

/// B is prefetched where its rows lie close together.
template <class T>
Prefetch prefetch_of(const RowBundles<T>& a, Offset nonzeros, const ConstBlockView<T>& b,
                     const ConstBlockView<T>& c, int multiprocessors) {
  Prefetch prefetch;
  const std::uint64_t columns = static_cast<std::uint64_t>(a.columns_total) * sizeof(LocalIndex);
  const std::uint64_t values = static_cast<std::uint64_t>(nonzeros) * sizeof(T);
  const bool small = columns + values <= prefetch_of_a;
  // More blocks ask sooner for much, fewer for little.
  const bool much = columns + values >= prefetch_by_more_blocks;
  prefetch.blocks = static_cast<unsigned>((much ? 4 : 2) * multiprocessors);
  if (small) {
    add_range(prefetch, 0, a.columns, columns, prefetch_of_a);
    add_range(prefetch, 1, a.values, values, prefetch_of_a);
    add_range(prefetch, 3, a.column_offsets, (static_cast<std::uint64_t>(a.count) + 1) * sizeof(Offset),
              prefetch_of_a);
    prefetch.result = reinterpret_cast<const char*>(c.data);
    prefetch.result_end = prefetch.result + bytes_across(c);
  }
  if (b.stride <= 2 * b.cols)
    add_range(prefetch, 2, b.data, bytes_across(b), small ? prefetch_of_b : prefetch_of_b_alone);
  return prefetch;
}

template <class T, class Operands>
void multiply(SpmmCall<T, Operands> call, ConstBlockView<T> b, ConstBlockView<T> c, bool wide) {
  if (call.plan.bundles > 0 && choose_algorithm(call.plan) == SpmmAlgorithm::merge) {
    multiply_merge(call, wide);
  } else {
    call.x.prefetch = prefetch_of(call.a, call.plan.statistics.nonzeros, b, c, call.multiprocessors);
    if (wide && call.plan.strips) return multiply_strips(call);
    multiply_row_split(call, wide);
  }
}

bool may_pay_in_strips(const RowStatistics& rows) {
  return rows.nonzeros >= least_nonzeros_of_strips && rows.mean >= least_mean_of_strips &&
         rows.longest <= longest_row_of_strips;
}

/// Elements that a lane moves at once.
template <class T>
int width_of(bool wide) {
  return wide ? 16 / static_cast<int>(sizeof(T)) : 1;
}

int slabs_of(int packs, int most) { return (packs + most - 1) / most; }

/// What merge products of up to `columns` columns carry from tile to tile. `call` is one of them, x and slabs
/// apart.
template <class T>
void reserve_for(SpmmCall<T, DenseOperands> call, LocalIndex columns) {
  call.only_reserves = true;
  for (const bool wide : {false, true}) {
    for (int packs = 1; packs <= (columns + width_of<T>(wide) - 1) / width_of<T>(wide); ++packs) {
      call.slabs = slabs_of(packs, most_packs_in_a_pass(call.plan, packs_limit));
      call.x.packs_per_slab = (packs + call.slabs - 1) / call.slabs;
      multiply_merge(call, wide);
    }
  }
}

}  // namespace

template <class T>
SpmmEngine<T>::SpmmEngine(cudaStream_t stream, std::shared_ptr<CudaDevice> device)
    : stream_(stream),
      device_(std::move(device)),
      multiprocessors_(of_current_device(cudaDevAttrMultiProcessorCount)),
      bytes_of_l2_(of_current_device(cudaDevAttrL2CacheSize)),
      multiplies_doubles_fast_(of_current_device(cudaDevAttrSingleToDoublePrecisionPerfRatio) <= 4) {}

template <class T>
std::unique_ptr<SpmmPlan> SpmmEngine<T>::analyse(const CsrView<T>& a, const SpmmOptions& options) {
  SparsePattern pattern =
      find_pattern(device_, stream_, a.row_offsets, a.column_indices, a.rows, a.nonzeros, a.row_map);
  auto plan = std::make_unique<CudaSpmmPlan>();
  plan->algorithm = options.algorithm;
  plan->multiprocessors = multiprocessors_;
  plan->statistics = pattern.statistics;
  plan->targets = std::move(pattern.targets);
  plan->empty_targets = std::move(pattern.empty_targets);
  const RowStatistics& rows = plan->statistics;
  const Offset* const offsets = or_else(pattern.offsets, a.row_offsets);
  std::optional<Bundles> bundles;
  if (pattern.worth_bundling)
    bundles = find_bundles(device_, offsets, a.column_indices, rows.rows, rows.nonzeros, multiplies_doubles_fast_);
  if (!bundles && may_pay_in_strips(rows) && choose_algorithm(*plan) != SpmmAlgorithm::merge)
    plan->strips = find_strips(device_, offsets, a.column_indices, rows.rows, rows.nonzeros);
  if (bundles) {
    take(std::move(*bundles), *plan);
  } else {
    plan->bundles = rows.rows;
    plan->column_offsets = std::move(pattern.offsets);
    plan->most_columns = std::move(pattern.most_columns);
    plan->most_values = plan->most_columns;
  }
  if (plan->bundles > 0 && choose_algorithm(*plan) == SpmmAlgorithm::merge) {
    MergePathArrays path = find_merge_path(device_, stream_, or_else(plan->column_offsets, a.row_offsets),
                                           plan->bundles, plan->statistics.columns_total);
    plan->path_ends = std::move(path.ends);
    plan->path_bundles = std::move(path.bundles);
    plan->path_back = std::move(path.back);
    plan->make_room = [this_plan = plan.get(), a, gpu = device_, stream = stream_,
                       multiprocessors = multiprocessors_](LocalIndex columns) {
      reserve_for<T>({*this_plan, gpu, stream, multiprocessors, bundles_of(*this_plan, a), {}, {}}, columns);
    };
  }
  return plan;
}

template <class T>
void SpmmEngine<T>::spmm(SpmmPlan& plan, const CsrView<T>& a, ConstBlockView<T> b, BlockView<T> c,
                         const ProductStep<T>& step, const double* betas) {
  auto& known = static_cast<CudaSpmmPlan&>(plan);
  if (a.rows == 0 || c.cols == 0) return;
  const bool adds = only_adds(step);
  if (known.bundles == 0 && adds) return;
  const bool wide = allows_wide_access(b.data, b.stride) && allows_wide_access(c.data, c.stride) &&
                    (step.right_hand_side == 0.0 || allows_wide_access(step.r.data, step.r.stride));
  const int width = width_of<T>(wide);
  const int packs = (c.cols + width - 1) / width;
  const double bytes_of_b = static_cast<double>(b.rows) * bytes_of_stride(b.stride, sizeof(T));
  const bool in_lines = wide && works_in_lines(known, bytes_of_b, bytes_of_l2_, b.rows, packs);
  const int most_packs = in_lines ? packs_of_line : most_packs_in_a_pass(known, packs_limit);
  const int slabs = std::max(slabs_of(packs, most_packs), wide ? passes_for_few_rows(known, packs) : 1);
  const DenseOperands x{reinterpret_cast<const char*>(b.data),
                        reinterpret_cast<char*>(c.data),
                        bytes_of_stride(b.stride, sizeof(T)),
                        bytes_of_stride(c.stride, sizeof(T)),
                        c.cols,
                        (packs + slabs - 1) / slabs,
                        {}};
  EmptyRows empty;
  if (!adds) empty = {known.statistics.empty_rows, or_else(known.empty_targets, a.row_map), 0};
  const auto multiply_by = [&](const auto& operands) {
    multiply(SpmmCall<T, std::decay_t<decltype(operands)>>{known, device_, stream_, multiprocessors_,
                                                           bundles_of(known, a), empty, operands, slabs},
             b, ConstBlockView<T>(c), wide);
  };
  if (is_plain(step)) {
    multiply_by(x);
  } else {
    multiply_by(StepOperands{x, factors_of(step, betas)});
  }
}

template class SpmmEngine<float>;
template class SpmmEngine<double>;

}  // namespace block_eigs::cuda
