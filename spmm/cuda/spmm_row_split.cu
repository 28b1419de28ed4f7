#include "spmm/cuda/spmm_algorithms.hpp"
#include "spmm/cuda/spmm_shape.cuh"

namespace block_eigs::cuda {

namespace {

constexpr int threads = 256;

template <class T, int W>
void multiply_rows(const SpmmCall<T>& call) {
  with_lane_shape(call.x.packs_per_slab, [&](auto shape) {
    using Shape = decltype(shape);
    constexpr int L = Shape::lanes, P = Shape::packs, U = rows_in_flight<Shape>;
    // A warp a row reads A without detours; lanes are idle where the row is shorter than the groups' first step.
    const bool long_rows = call.plan.statistics.mean >= 64.0;
    const bool few_rows = static_cast<double>(call.a.count) * L < 2048.0 * call.multiprocessors;
    if (!long_rows && !few_rows &&
        launch_staged_row_split<T, W, L, P, 1, U, threads, (P <= 2 ? 4 : 3)>(call)) {
      return;
    }
    launch_direct_row_split<T, W, L, P, 1, 32 / L, U, threads, 1>(call);
  });
}

template <class T, int W>
void multiply_bundles(const SpmmCall<T>& call) {
  with_bundle_shape(call.x.packs_per_slab, [&](auto shape) {
    using Shape = decltype(shape);
    constexpr int L = Shape::lanes, P = Shape::packs;
    const double columns = static_cast<double>(call.plan.statistics.columns_total) / call.a.count;
    if (columns < 32.0 && launch_staged_row_split<T, W, L, P, bundle_rows_limit, 2 / P, threads, 3>(call)) return;
    launch_direct_row_split<T, W, L, P, bundle_rows_limit, 32 / L, 2 / P, threads, 1>(call);
  });
}

}  // namespace

template <class T>
void multiply_row_split(const SpmmCall<T>& call, bool wide) {
  constexpr int W = 16 / static_cast<int>(sizeof(T));
  if (call.plan.bundled) return wide ? multiply_bundles<T, W>(call) : multiply_bundles<T, 1>(call);
  return wide ? multiply_rows<T, W>(call) : multiply_rows<T, 1>(call);
}

template void multiply_row_split(const SpmmCall<float>&, bool);
template void multiply_row_split(const SpmmCall<double>&, bool);

}  // namespace block_eigs::cuda
