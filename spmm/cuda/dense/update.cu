#include "spmm/cuda/dense/update.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <vector>

#include "spmm/cuda/dense/column_sums.hpp"
#include "spmm/cuda/dense/narrow_update.cuh"
#include "spmm/cuda/dense/update_problem.cuh"
#include "spmm/cuda/dense/update_slabs.hpp"
#include "spmm/cuda/runtime/cuda_check.hpp"

namespace block_eigs::cuda {

namespace {

/// One instantiation of the kernel.
template <class T>
struct Variant {
  int tiles;  ///< of a warp
  int depth;
  int blocks;  ///< per multiprocessor, where shared memory suffices
  void (*kernel)(const UpdateProblem<T>);
};

template <class T, int Tiles, bool InShared, bool WithResidual>
constexpr Variant<T> variant() {
  constexpr int blocks = Tiles <= 2 ? 4 : Tiles <= 4 ? 3 : Tiles <= 8 ? 2 : 1;
  // 16 tiles leave little room beside 192 x 128 coefficients
  constexpr int depth = Tiles < 16 ? 6 : WithResidual ? 3 : 4;
  return {Tiles, depth, blocks, update_kernel<T, Tiles, depth, blocks, InShared, WithResidual>};
}

/// For coefficients that fit into shared memory, by ascending width.
template <class T, bool WithResidual>
constexpr std::array in_shared{variant<T, 1, true, WithResidual>(), variant<T, 2, true, WithResidual>(),
                               variant<T, 4, true, WithResidual>(), variant<T, 6, true, WithResidual>(),
                               variant<T, 8, true, WithResidual>(), variant<T, 12, true, WithResidual>(),
                               variant<T, 16, true, WithResidual>()};
/// For any others.
template <class T, bool WithResidual>
constexpr std::array in_global{variant<T, 8, false, WithResidual>(), variant<T, 16, false, WithResidual>()};

template <class T>
struct Launch {
  const Variant<T>* variant = nullptr;
  UpdateProblem<T> problem;
  int shared_bytes = 0;
};

/// The narrowest variant that takes the problem; none where it is too wide.
template <class T, bool WithResidual>
Launch<T> choose(const CudaDevice& device, UpdateProblem<T> problem) {
  const int needed = problem.tiles;
  const int room = device.shared_memory_per_block();
  for (const Variant<T>& candidate : in_shared<T, WithResidual>) {
    problem.tiles = candidate.tiles;
    const int bytes = UpdateLayout::of(problem, true, candidate.depth).bytes;
    if (candidate.tiles >= needed && bytes <= room) return {&candidate, problem, bytes};
  }
  for (const Variant<T>& candidate : in_global<T, WithResidual>) {
    const int warps = (needed + candidate.tiles - 1) / candidate.tiles;
    problem.warps_across = static_cast<int>(std::bit_ceil(static_cast<unsigned>(warps)));
    problem.tiles = problem.warps_across * candidate.tiles;
    const bool last = candidate.tiles == in_global<T, WithResidual>.back().tiles;
    const int widest = WithResidual ? 1 : last ? update_warps : 1;
    const int bytes = UpdateLayout::of(problem, false, candidate.depth).bytes;
    if (problem.warps_across <= widest && bytes <= room) return {&candidate, problem, bytes};
  }
  return {nullptr, problem, 0};
}

template <class T>
unsigned blocks_for(const CudaDevice& device, const Launch<T>& launch) {
  const int fitting = device.shared_memory_per_multiprocessor() / (launch.shared_bytes + 1024);
  const int resident = device.multiprocessors() * std::clamp(fitting, 1, launch.variant->blocks);
  const int block_rows = update_warps / launch.problem.warps_across * rows_per_warp;
  const LocalIndex enough = (launch.problem.out.rows - 1) / block_rows + 1;
  return static_cast<unsigned>(std::min<LocalIndex>(resident, enough));
}

template <class T>
void run(CudaDevice& device, const Launch<T>& launch, unsigned blocks, std::string_view name) {
  device.allow_shared_memory(reinterpret_cast<const void*>(launch.variant->kernel), launch.shared_bytes);
  const cudaStream_t stream = device.stream(Queue::compute);
  launch.variant->kernel<<<blocks, update_threads, static_cast<std::size_t>(launch.shared_bytes), stream>>>(
      launch.problem);
  check_launch(name);
}

/// For few columns, where `Chunks` and `Tiles` suffice. Coefficients travel with the launch.
template <class T, int Chunks, int Tiles>
void narrow_update(CudaDevice& device, const ConstBlockList<T>& in, const SmallMatrix& coefficients,
                   const BlockList<T>& out) {
  constexpr int blocks = Chunks > 2 ? 2 : 3;
  NarrowUpdate<T, Chunks, Tiles> problem{DeviceList(in), DeviceList(out), has_even_pairs(in), {}};
  pack(coefficients, in, out, Tiles, problem.coefficients);
  const LocalIndex enough = (out.rows() - 1) / (update_warps * rows_per_warp) + 1;
  const unsigned grid = static_cast<unsigned>(std::min<LocalIndex>(blocks * device.multiprocessors(), enough));
  narrow_update_kernel<T, Chunks, Tiles, blocks>
      <<<grid, update_threads, 0, device.stream(Queue::compute)>>>(problem);
  check_launch("update");
}

/// The same for more inputs, by way of shared memory. Returns false, and has done nothing, where coefficients are
/// too many for that.
template <class T>
bool launched_update(CudaDevice& device, const ConstBlockList<T>& in, const SmallMatrix& coefficients,
                     const BlockList<T>& out) {
  constexpr int tiles = 2;
  static constexpr Variant<T> like = variant<T, tiles, true, false>();
  if (chunks_of(out) > tiles || chunks_of(in) * tiles > launched_blocks) return false;
  if (sizeof(LaunchedUpdate<T>) > device.parameter_bytes()) return false;
  LaunchedUpdate<T> launched{problem_of(in, out), {}};
  launched.update.tiles = tiles;
  const int bytes = UpdateLayout::of(launched.update, true, like.depth).bytes;
  if (bytes > device.shared_memory_per_block()) return false;
  pack(coefficients, in, out, tiles, launched.coefficients);
  const auto kernel = launched_update_kernel<T, tiles, like.depth, like.blocks>;
  device.allow_shared_memory(reinterpret_cast<const void*>(kernel), bytes);
  launch_early(device.launches_early(), kernel, blocks_for(device, Launch<T>{&like, launched.update, bytes}),
               update_threads, bytes, device.stream(Queue::compute), "update", launched);
  return true;
}

/// The most columns of one launch of update_kernel, what does not fit is cut: so many inputs leave room in the
/// shared memory of any GPU that is supported.
constexpr SlabLimits widest{4096, 1024};

/// As `choose`, for one product of UpdateSlabs.
template <class T>
Launch<T> choose_slab(const CudaDevice& device, const ConstBlockList<T>& in, const BlockView<T>& out) {
  const Launch<T> launch = choose<T, false>(device, problem_of(in, BlockList<T>{out}));
  if (launch.variant == nullptr) throw RunError("update: too little shared memory on " + device.name());
  return launch;
}

/// For any number of columns. The coefficients of all products are sent at once, each block of rows then runs
/// through all products.
template <class T>
void wide_update(CudaDevice& device, Workspace& workspace, const ConstBlockList<T>& in,
                 const SmallMatrix& coefficients, const BlockList<T>& out) {
  const UpdateSlabs<T> slabs(in, out, widest);
  const LocalIndex rows = out.rows();
  std::vector<double> packed;
  std::vector<std::size_t> begins;
  for (int p = 0; p < slabs.products(); ++p) {
    const ConstBlockList<T> inputs = slabs.inputs(p, 0, rows, nullptr);
    const BlockView<T> output = slabs.output(p, 0, rows);
    const int tiles = choose_slab(device, inputs, output).problem.tiles;
    begins.push_back(packed.size());
    packed.resize(packed.size() +
                  static_cast<std::size_t>(chunks_of(inputs)) * static_cast<std::size_t>(tiles) * 64);
    pack(slabs.coefficients(p, coefficients), inputs, BlockList<T>{output}, tiles, packed.data() + begins.back());
  }
  const PanelShape shape =
      panel_shape(rows, static_cast<std::size_t>(slabs.panel_columns()) * sizeof(T), packed.size());
  double* const there = workspace.partial_sums(packed.size() + shape.doubles);
  T* const panel = slabs.panel_columns() > 0 ? reinterpret_cast<T*>(there + packed.size()) : nullptr;
  device.copy_to_device(there, packed.data(), packed.size() * sizeof(double), Queue::compute);
  for (LocalIndex first = 0; first < rows; first += shape.rows) {
    const LocalIndex count = std::min(shape.rows, rows - first);
    slabs.copy_inputs(first, count, panel, [&](ConstBlockView<T> from, BlockView<T> to) {
      const auto bytes = [](LocalIndex columns) { return static_cast<std::size_t>(columns) * sizeof(T); };
      check(cudaMemcpy2DAsync(to.data, bytes(to.stride), from.data, bytes(from.stride), bytes(from.cols),
                              static_cast<std::size_t>(count), cudaMemcpyDeviceToDevice,
                              device.stream(Queue::compute)),
            "update");
    });
    for (int p = 0; p < slabs.products(); ++p) {
      Launch<T> launch = choose_slab(device, slabs.inputs(p, first, count, panel), slabs.output(p, first, count));
      launch.problem.coefficients = there + begins[static_cast<std::size_t>(p)];
      run(device, launch, blocks_for(device, launch), "update");
    }
  }
  device.synchronize(Queue::compute);  // `packed` may be on its way until then
}

}  // namespace

template <class T>
void update(CudaDevice& device, Workspace& workspace, const ConstBlockList<T>& in, const SmallMatrix& coefficients,
            const BlockList<T>& out) {
  if (out.rows() == 0 || out.cols() == 0) return;
  if (chunks_of(in) <= 2 && chunks_of(out) <= 1) return narrow_update<T, 2, 1>(device, in, coefficients, out);
  if (chunks_of(in) <= 3 && chunks_of(out) <= 2) return narrow_update<T, 3, 2>(device, in, coefficients, out);
  if (launched_update(device, in, coefficients, out)) return;
  Launch<T> launch = choose<T, false>(device, problem_of(in, out));
  if (launch.variant == nullptr) return wide_update(device, workspace, in, coefficients, out);
  const UpdateProblem<T>& problem = launch.problem;
  double* staged =
      workspace.stage(static_cast<std::size_t>(problem.chunks) * static_cast<std::size_t>(problem.tiles) * 64);
  pack(coefficients, in, out, problem.tiles, staged);
  launch.problem.coefficients = workspace.send();
  run(device, launch, blocks_for(device, launch), "update");
}

template <class T>
bool update_residual(CudaDevice& device, Workspace& workspace, const ConstBlockList<T>& in,
                     const SmallMatrix& coefficients, const BlockList<T>& out, const ResidualPart<T>& part,
                     const HandOver& squared_norms) {
  if (out.rows() == 0 || part.r.cols == 0) return false;
  if (overlap<T>(part.r, part.bx) && part.r.data != part.bx.data) return false;
  for (const BlockView<T>& output : out) {
    if (overlap<T>(output, part.bx)) return false;
  }
  UpdateProblem<T> problem = problem_of(in, out);
  problem.bx = part.bx;
  problem.even = problem.even && has_even_pairs(ConstBlockList<T>{part.bx});
  problem.r = part.r;
  Launch<T> launch = choose<T, true>(device, problem);
  if (launch.variant == nullptr) return false;
  const std::size_t coefficient_count =
      static_cast<std::size_t>(problem.chunks) * static_cast<std::size_t>(launch.problem.tiles) * 64;
  double* staged = workspace.stage(coefficient_count + part.lambda.size());
  pack(coefficients, in, out, launch.problem.tiles, staged);
  std::copy(part.lambda.begin(), part.lambda.end(), staged + coefficient_count);
  launch.problem.coefficients = workspace.send();
  launch.problem.lambda = launch.problem.coefficients + coefficient_count;
  const unsigned blocks = blocks_for(device, launch);
  launch.problem.partial_norms = workspace.partial_sums(blocks * part.lambda.size());
  run(device, launch, blocks, "update_residual");
  sum_parts(device, launch.problem.partial_norms, static_cast<int>(blocks), part.r.cols, squared_norms);
  return true;
}

template void update(CudaDevice&, Workspace&, const ConstBlockList<float>&, const SmallMatrix&,
                     const BlockList<float>&);
template void update(CudaDevice&, Workspace&, const ConstBlockList<double>&, const SmallMatrix&,
                     const BlockList<double>&);
template bool update_residual(CudaDevice&, Workspace&, const ConstBlockList<float>&, const SmallMatrix&,
                              const BlockList<float>&, const ResidualPart<float>&, const HandOver&);
template bool update_residual(CudaDevice&, Workspace&, const ConstBlockList<double>&, const SmallMatrix&,
                              const BlockList<double>&, const ResidualPart<double>&, const HandOver&);

}  // namespace block_eigs::cuda
