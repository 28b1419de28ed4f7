#include "io/petsc/plugin/gpu_operators.hpp"

#include <petscmat.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "io/petsc/bridge/petsc_device.hpp"
#include "io/petsc/bridge/petsc_partition.hpp"
#include "io/petsc/plugin/aij_parts.hpp"
#include "io/petsc/plugin/gpu_matrix_part.hpp"
#include "io/petsc/plugin/kept_with_mat.hpp"
#include "io/petsc/plugin/mat_options.hpp"
#include "spmm/device/buffer.hpp"
#include "spmm/error.hpp"
#include "spmm/matrix/dense_block.hpp"
#include "spmm/matrix/split_matrix.hpp"

namespace block_eigs::petsc {

namespace {

constexpr const char* doing = "multiplying on the GPU by a matrix of type blockcsr";

/// The GPU that PETSc has given to this rank.
std::shared_ptr<Device> petsc_gpu() {
  const std::optional<int> id = gpu_of_petsc();
  if (!id) throw RunError(std::string(doing) + ": PETSc has no GPU");
  return make_device(Backend::cuda, *id);
}

Context<double> make_gpu_context(Mat a) {
  const Communicator comm(PetscObjectComm(reinterpret_cast<PetscObject>(a)));
  std::shared_ptr<Device> device;
  std::shared_ptr<Kernels<double>> kernels;
  comm.collectively([&] {
    device = petsc_gpu();
    kernels = make_kernels<double>(device);
  });
  return {comm, device, kernels, std::make_shared<Profile>(device), make_transport(comm, device, halo_way_of(a))};
}

/// Row-major block of its own columns' width in memory that grows to the largest request.
BlockView<double> scratch_block(const Context<double>& context, Buffer<double>& memory, LocalIndex rows,
                                LocalIndex columns) {
  const LocalIndex stride = DenseBlock<double>::padded(columns);
  const std::size_t size = static_cast<std::size_t>(rows) * static_cast<std::size_t>(stride);
  if (memory.size() < size) {
    memory = {};
    memory = Buffer<double>(context.device, size);
  }
  return {memory.data(), rows, columns, stride};
}

class GpuOperators final : public MatOperators {
 public:
  explicit GpuOperators(Mat a) : pattern_(pattern_of(a)), values_(values_of(a)), context_(make_gpu_context(a)) {
    const AijParts parts = borrow_parts(a);
    rows_ = static_cast<LocalIndex>(parts.own.rows);
    columns_ = static_cast<LocalIndex>(parts.own_columns);
    HaloPlan plan(context_.comm, column_partition(a), parts.ghosts());
    context_.comm.collectively([&] {
      own_ = GpuMatrixPart(parts.own);
      boundary_ = GpuMatrixPart(parts.ghost);
      const auto ghosts = static_cast<PetscInt>(parts.ghost_columns.size());
      matrix_ =
          std::make_unique<SplitMatrix<double>>(context_, own_.arrays(parts.own, parts.own_columns, false),
                                                boundary_.arrays(parts.ghost, ghosts, true), std::move(plan));
    });
    reserve(1);
  }

  const Pattern& pattern() const { return pattern_; }

  /// Not collective: on each rank its own numbers may have changed.
  void refresh(Mat a) {
    const ValueState now = values_of(a);
    if (now == values_) return;
    const AijParts parts = borrow_parts(a);
    own_.refresh(parts.own, [this](const double* values) { matrix_->set_own_values(values); });
    boundary_.refresh(parts.ghost, [this](const double* values) { matrix_->set_boundary_values(values); });
    values_ = now;
  }

  void multiply(const double* x, const double* z, double* y) override {
    after_petsc([&] {
      ProductStep<double> step;
      if (z == y && z != nullptr) step.gamma = 1.0;
      if (z != y && z != nullptr) step.right_hand_side = 1.0;
      step.r = {z, rows_, 1, 1};
      matrix_->multiply({x, columns_, 1, 1}, {y, rows_, 1, 1}, step);
    });
  }

  void multiply(const double* b, std::int64_t b_leading, double* c, std::int64_t c_leading,
                std::int64_t columns) override {
    if (columns == 1) return multiply(b, nullptr, c);
    reserve(static_cast<LocalIndex>(std::min(columns, widest)));
    after_petsc([&] {
      const std::int64_t panels = (columns + widest - 1) / widest;
      std::int64_t first = 0;
      for (std::int64_t p = 0; p < panels; ++p) {
        // Of even width where they can be.
        const std::int64_t left = columns - first;
        const std::int64_t count = std::min(left, ((left + panels - p - 1) / (panels - p) + 1) / 2 * 2);
        multiply_panel(b + first * b_leading, b_leading, c + first * c_leading, c_leading,
                       static_cast<LocalIndex>(count));
        first += count;
      }
    });
  }

  TransferCount transferred() const override { return context_.device->transferred(); }

 private:
  static constexpr std::int64_t widest = 32;

  /// Takes memory for products with up to `columns` columns, on all ranks or none. Collective where they become
  /// more.
  void reserve(LocalIndex columns) {
    if (columns <= reserved_) return;
    matrix_->reserve(columns);
    context_.comm.collectively([&] {
      if (columns == 1) return;
      scratch_block(context_, b_memory_, columns_, columns);
      scratch_block(context_, c_memory_, rows_, columns);
    });
    reserved_ = columns;
  }

  /// What PETSc has put into its streams comes first; what it puts there next comes after `work`.
  template <class Work>
  void after_petsc(const Work& work) {
    wait_for_petsc(*context_.device);
    work();
    let_petsc_wait(*context_.device);
  }

  void multiply_panel(const double* b, std::int64_t b_leading, double* c, std::int64_t c_leading,
                      LocalIndex columns) {
    const BlockView<double> b_rows = scratch_block(context_, b_memory_, columns_, columns);
    const BlockView<double> c_rows = scratch_block(context_, c_memory_, rows_, columns);
    context_.kernels->from_columns(b, b_leading, b_rows);
    matrix_->multiply(b_rows, c_rows, {});
    context_.kernels->to_columns(c_rows, c, c_leading);
  }

  Pattern pattern_;
  ValueState values_;
  Context<double> context_;
  LocalIndex rows_ = 0;
  LocalIndex columns_ = 0;
  GpuMatrixPart own_;
  GpuMatrixPart boundary_;
  std::unique_ptr<SplitMatrix<double>> matrix_;
  Buffer<double> b_memory_;
  Buffer<double> c_memory_;
  LocalIndex reserved_ = 0;
};

}  // namespace

MatOperators& gpu_operators_of(_p_Mat* a) {
  auto* const operators = kept_with<GpuOperators>(a, gpu_operators_key);
  if (operators != nullptr && operators->pattern() == pattern_of(a)) {
    operators->refresh(a);
    return *operators;
  }
  return keep_with(a, gpu_operators_key, std::make_unique<GpuOperators>(a));
}

}  // namespace block_eigs::petsc
