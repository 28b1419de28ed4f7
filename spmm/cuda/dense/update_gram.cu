#include "spmm/cuda/dense/update_gram.hpp"

#include <algorithm>

#include "spmm/cuda/dense/column_sums.hpp"
#include "spmm/cuda/dense/update_gram_kernel.cuh"
#include "spmm/cuda/dense/update_problem.cuh"
#include "spmm/cuda/runtime/cuda_check.hpp"
#include "spmm/overlap.hpp"

namespace block_eigs::cuda {

namespace {

template <class T>
bool same_view(ConstBlockView<T> x, ConstBlockView<T> y) {
  return x.data == y.data && x.cols == y.cols && x.stride == y.stride;
}

/// Whether update_gram_kernel makes what is asked for: of one output, with itself and with what `scaling` makes.
template <class T>
bool makes_gram(const ConstBlockList<T>& in, const BlockList<T>& out, const RowScaling<T>& scaling,
                const ConstBlockList<T>& left, const ConstBlockList<T>& right) {
  const bool scaled = scaling.d != nullptr;
  if (out.size() != 1 || out.rows() == 0 || out.cols() == 0 || out.cols() > gram_columns) return false;
  const ConstBlockView<T> q = out[0];
  if (left.size() != 1 || !same_view<T>(left[0], q)) return false;
  if (right.size() != (scaled ? 2 : 1) || !same_view<T>(right[right.size() - 1], q)) return false;
  if (!scaled) return true;
  if (!same_view<T>(scaling.x, q) || !same_view<T>(right[0], scaling.y) || overlap<T>(scaling.y, q)) return false;
  return std::none_of(in.begin(), in.end(),
                      [&](const ConstBlockView<T>& view) { return overlap<T>(scaling.y, view); });
}

}  // namespace

template <class T>
bool update_gram(CudaDevice& device, Workspace& workspace, const ConstBlockList<T>& in,
                 const SmallMatrix& coefficients, const BlockList<T>& out, const RowScaling<T>& scaling,
                 const ConstBlockList<T>& left, const ConstBlockList<T>& right, const HandOver& products) {
  constexpr int depth = 6;
  constexpr int blocks = 2;  // per multiprocessor: the copies of so many are under way together
  if (!makes_gram(in, out, scaling, left, right)) return false;
  const bool scaled = scaling.d != nullptr;
  UpdateGramProblem<T> problem{problem_of(in, out), scaling.d, scaling.y, nullptr, {}};
  problem.update.tiles = gram_tiles;
  const int shared_bytes = UpdateLayout::of(problem.update, true, depth).bytes;
  if (blocks * (shared_bytes + 8 * 1024) > device.shared_memory_per_multiprocessor()) return false;
  if (sizeof(problem) > device.parameter_bytes()) return false;
  const int blocks_of_coefficients = problem.update.chunks * gram_tiles;
  if (blocks_of_coefficients <= gram_launched_blocks) {
    pack(coefficients, in, out, gram_tiles, problem.launched);
  } else {
    pack(coefficients, in, out, gram_tiles,
         workspace.stage(static_cast<std::size_t>(blocks_of_coefficients) * 64));
    problem.update.coefficients = workspace.send();
  }
  const LocalIndex enough = (out.rows() - 1) / (update_warps * rows_per_warp) + 1;
  const int parts = std::min<LocalIndex>(blocks * device.multiprocessors(), enough);
  const int count = left.cols() * right.cols();
  problem.partial = workspace.partial_sums(static_cast<std::size_t>(parts) * static_cast<std::size_t>(count));
  const auto kernel =
      scaled ? update_gram_kernel<T, depth, blocks, true> : update_gram_kernel<T, depth, blocks, false>;
  device.allow_shared_memory(reinterpret_cast<const void*>(kernel), shared_bytes);
  launch_early(device.launches_early(), kernel, static_cast<unsigned>(parts), update_threads, shared_bytes,
               device.stream(Queue::compute), "update_gram", problem);
  sum_parts(device, problem.partial, parts, count, products);
  return true;
}

template bool update_gram(CudaDevice&, Workspace&, const ConstBlockList<float>&, const SmallMatrix&,
                          const BlockList<float>&, const RowScaling<float>&, const ConstBlockList<float>&,
                          const ConstBlockList<float>&, const HandOver&);
template bool update_gram(CudaDevice&, Workspace&, const ConstBlockList<double>&, const SmallMatrix&,
                          const BlockList<double>&, const RowScaling<double>&, const ConstBlockList<double>&,
                          const ConstBlockList<double>&, const HandOver&);

}  // namespace block_eigs::cuda
