#include "io/petsc/bridge/petsc_preconditioner.hpp"

#include <petscpc.h>

#include <cmath>
#include <utility>
#include <vector>

#include "io/petsc/bridge/petsc_matrix.hpp"
#include "io/petsc/bridge/petsc_options.hpp"
#include "io/petsc/bridge/petsc_session.hpp"
#include "spmm/device/buffer.hpp"
#include "spmm/error.hpp"
#include "spmm/matrix/dense_block.hpp"

namespace block_eigs::petsc {

namespace {

constexpr const char* building = "preconditioner petsc: setting it up";
constexpr const char* applying = "preconditioner petsc: applying it";

struct DestroyPc {
  void operator()(_p_PC* pc) const noexcept { static_cast<void>(PCDestroy(&pc)); }
};
using OwnedPc = std::unique_ptr<_p_PC, DestroyPc>;

OwnedMat dense(const Communicator& comm, LocalIndex rows, LocalIndex cols) {
  Mat block = nullptr;
  check(MatCreateDense(comm.handle(), rows, PETSC_DECIDE, PETSC_DETERMINE, cols, nullptr, &block), applying);
  OwnedMat owned(block);
  check(MatAssemblyBegin(block, MAT_FINAL_ASSEMBLY), applying);
  check(MatAssemblyEnd(block, MAT_FINAL_ASSEMBLY), applying);
  return owned;
}

template <class T>
class PetscPreconditioner final : public LinearOperator<T> {
 public:
  PetscPreconditioner(const Context<T>& context, OwnedMat a, OwnedPc pc, LocalIndex rows)
      : context_(context), a_(std::move(a)), pc_(std::move(pc)), rows_(rows) {}

  LocalIndex rows() const override { return rows_; }
  LocalIndex columns() const override { return rows_; }

  void apply(ConstBlockView<T> x, BlockView<T> y) override {
    if (columns_ != x.cols) {
      x_ = dense(context_.comm, rows_, x.cols);
      y_ = dense(context_.comm, rows_, x.cols);
      columns_ = x.cols;
    }
    give(x);
    check(PCMatApply(pc_.get(), x_.get(), y_.get()), applying);
    take(y);
  }

 private:
  /// Elements from the first to the last of a view.
  static std::size_t extent(ConstBlockView<T> view) {
    if (view.rows == 0 || view.cols == 0) return 0;
    return static_cast<std::size_t>(view.rows - 1) * static_cast<std::size_t>(view.stride) +
           static_cast<std::size_t>(view.cols);
  }

  /// Page-locked memory for a view of a GPU's.
  T* stage(ConstBlockView<T> view) {
    if (staging_.size() < extent(view)) staging_ = StagingBuffer<T>(context_.device, extent(view));
    return staging_.data();
  }

  void give(ConstBlockView<T> x) {
    const T* from = x.data;
    if (!context_.device->host_addressable() && extent(x) > 0) {
      T* staged = stage(x);
      context_.device->copy_to_host(staged, x.data, extent(x) * sizeof(T), Queue::compute);
      context_.device->synchronize(Queue::compute);
      from = staged;
    }
    PetscScalar* to = nullptr;
    check(MatDenseGetArrayWrite(x_.get(), &to), applying);
#pragma omp parallel for schedule(static)
    for (LocalIndex i = 0; i < x.rows; ++i) {
      const T* row = from + std::ptrdiff_t{i} * x.stride;
      for (LocalIndex j = 0; j < x.cols; ++j) to[i + std::ptrdiff_t{j} * rows_] = row[j];
    }
    check(MatDenseRestoreArrayWrite(x_.get(), &to), applying);
  }

  void take(BlockView<T> y) {
    const bool on_host = context_.device->host_addressable();
    // The columns between those of a view belong to others: on a GPU they go along in their present state.
    const ConstBlockView<T> whole = y;
    T* to = on_host ? y.data : stage(whole);
    if (!on_host && y.stride != y.cols && extent(whole) > 0) {
      context_.device->copy_to_host(to, y.data, extent(whole) * sizeof(T), Queue::compute);
      context_.device->synchronize(Queue::compute);
    }
    const PetscScalar* from = nullptr;
    check(MatDenseGetArrayRead(y_.get(), &from), applying);
#pragma omp parallel for schedule(static)
    for (LocalIndex i = 0; i < y.rows; ++i) {
      T* row = to + std::ptrdiff_t{i} * y.stride;
      for (LocalIndex j = 0; j < y.cols; ++j) row[j] = static_cast<T>(from[i + std::ptrdiff_t{j} * rows_]);
    }
    check(MatDenseRestoreArrayRead(y_.get(), &from), applying);
    if (on_host || extent(whole) == 0) return;
    context_.device->copy_to_device(y.data, to, extent(whole) * sizeof(T), Queue::compute);
    context_.device->synchronize(Queue::compute);
  }

  Context<T> context_;
  OwnedMat a_;
  OwnedPc pc_;
  OwnedMat x_;
  OwnedMat y_;
  LocalIndex rows_;
  LocalIndex columns_ = 0;
  StagingBuffer<T> staging_;
};

/// Whether a factorisation or another part of the set-up has broken down on any rank.
bool broken(const Communicator& comm, PC pc) {
  PCFailedReason reason = PC_NOERROR;
  check(PCGetFailedReason(pc, &reason), building);
  return comm.any(reason != PC_NOERROR);
}

/// One application to a vector that no preconditioner should have trouble with. It also makes PETSc ask for the
/// options that it looks up late.
bool gives_finite_values(const Communicator& comm, Mat a, PC pc) {
  Vec x = nullptr;
  Vec y = nullptr;
  check(MatCreateVecs(a, &x, &y), building);
  check(VecSet(x, 1.0), building);
  check_input(PCApply(pc, x, y), building);
  PetscReal norm = 0.0;
  check(VecNorm(y, NORM_2, &norm), building);
  check(VecDestroy(&x), building);
  check(VecDestroy(&y), building);
  return !comm.any(!std::isfinite(norm));
}

OwnedPc set_up(const Communicator& comm, Mat a, const std::string& text) {
  PC pc = nullptr;
  check(PCCreate(comm.handle(), &pc), building);
  OwnedPc owned(pc);
  const ScopedOptions options("", text);
  check(PCSetOptionsPrefix(pc, option_prefix), building);
  check(PCSetOperators(pc, a, a), building);
  check_input(PCSetFromOptions(pc), "preconditioner.options");
  check_input(PCSetUp(pc), building);
  require(!broken(comm, pc),
          "preconditioner petsc: \"" + text +
              "\" breaks down on this matrix (a zero or negative pivot); shift the pivots, such "
              "as by -pc_factor_shift_type positive_definite, or choose another");
  require(gives_finite_values(comm, a, pc),
          "preconditioner petsc: \"" + text + "\" gives values that are not finite on this matrix");
  options.require_used();
  return owned;
}

}  // namespace

template <class T>
std::unique_ptr<LinearOperator<T>> make_preconditioner(const Context<T>& context, const CsrRows& rows,
                                                       const Partition& partition, const std::string& options) {
  const Communicator& comm = context.comm;
  initialize(comm);
  OwnedMat a = make_aij(comm, rows, partition);
  // Lets the factorisations for symmetric matrices accept it, and GAMG keep its graph.
  check(MatSetOption(a.get(), MAT_SYMMETRIC, PETSC_TRUE), building);
  OwnedPc pc = set_up(comm, a.get(), options);
  return std::make_unique<PetscPreconditioner<T>>(context, std::move(a), std::move(pc),
                                                  partition.size(comm.rank()));
}

template std::unique_ptr<LinearOperator<float>> make_preconditioner(const Context<float>&, const CsrRows&,
                                                                    const Partition&, const std::string&);
template std::unique_ptr<LinearOperator<double>> make_preconditioner(const Context<double>&, const CsrRows&,
                                                                     const Partition&, const std::string&);

}  // namespace block_eigs::petsc
