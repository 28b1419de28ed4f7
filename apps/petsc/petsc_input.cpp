#include "apps/petsc/petsc_input.hpp"

#include <optional>
#include <utility>

#include "apps/in_memory/arrays.hpp"
#include "apps/in_memory/mpi_runtime.hpp"
#include "apps/petsc/cuda_blocks.hpp"
#include "io/petsc/bridge/petsc_check.hpp"
#include "io/petsc/bridge/petsc_columns.hpp"
#include "io/petsc/bridge/petsc_dense.hpp"
#include "io/petsc/bridge/petsc_device.hpp"
#include "io/petsc/bridge/petsc_matrix.hpp"
#include "spmm/error.hpp"

namespace block_eigs::petsc {

namespace {

class MatSource final : public MatrixSource {
 public:
  MatSource(Communicator comm, std::string name, Mat a) : comm_(std::move(comm)), name_(std::move(name)), a_(a) {
    check(MatGetSize(a, &rows_, &columns_), "reading a PETSc matrix");
  }

  GlobalIndex rows() const override { return rows_; }
  GlobalIndex columns() const override { return columns_; }
  std::string description() const override { return name_; }
  CsrRows read(const Partition& partition) override {
    require(partition == row_partition(a_), name_ + ": its rows are dealt otherwise");
    CsrRows rows;
    comm_.collectively([&] { rows = read_rows(a_); });
    return rows;
  }

 private:
  Communicator comm_;
  std::string name_;
  Mat a_;
  PetscInt rows_ = 0;
  PetscInt columns_ = 0;
};

constexpr const char* preparing = "setting up the preconditioner of the program";

using OnVectors = std::function<PetscErrorCode(Vec, Vec)>;

/// By columns that PETSc multiplies one after the other. `Blocks` are DenseBlocks or CudaBlocks.
template <class Blocks>
class ByColumns final : public LinearOperator<double> {
 public:
  ByColumns(const Context<double>& context, LocalIndex rows, OnVectors step)
      : blocks_(context, rows), rows_(rows), step_(std::move(step)) {}

  LocalIndex rows() const override { return rows_; }
  LocalIndex columns() const override { return rows_; }
  void reserve(LocalIndex columns) override { blocks_.reserve(columns); }

  void apply(ConstBlockView<double> x, BlockView<double> y) override {
    constexpr const char* doing = "applying an operator of the program";
    blocks_.give(x);
    for (LocalIndex j = 0; j < x.cols; ++j) {
      Vec from = nullptr;
      Vec to = nullptr;
      check(MatDenseGetColumnVecRead(blocks_.given(), j, &from), doing);
      check(MatDenseGetColumnVecWrite(blocks_.taken(), j, &to), doing);
      check(step_(from, to), doing);
      check(MatDenseRestoreColumnVecWrite(blocks_.taken(), j, &to), doing);
      check(MatDenseRestoreColumnVecRead(blocks_.given(), j, &from), doing);
    }
    blocks_.take(y);
  }

 private:
  Blocks blocks_;
  LocalIndex rows_;
  OnVectors step_;
};

template <class Blocks>
class ByBlocks final : public LinearOperator<double> {
 public:
  ByBlocks(const Context<double>& context, LocalIndex rows, PC pc)
      : blocks_(context, rows), rows_(rows), pc_(pc) {}

  LocalIndex rows() const override { return rows_; }
  LocalIndex columns() const override { return rows_; }
  void reserve(LocalIndex columns) override { blocks_.reserve(columns); }

  void apply(ConstBlockView<double> x, BlockView<double> y) override {
    blocks_.give(x);
    check(PCMatApply(pc_, blocks_.given(), blocks_.taken()), "applying the preconditioner of the program");
    blocks_.take(y);
  }

 private:
  Blocks blocks_;
  LocalIndex rows_;
  PC pc_;
};

/// An operator on vectors of the kind that `a` has.
template <template <class> class Operator, class Step>
std::unique_ptr<LinearOperator<double>> on_vectors_of(Mat a, const Context<double>& context, LocalIndex rows,
                                                      Step step) {
  if (has_vectors_on_gpu(a)) return std::make_unique<Operator<CudaBlocks>>(context, rows, std::move(step));
  return std::make_unique<Operator<DenseBlocks<double>>>(context, rows, std::move(step));
}

/// Its address is the context of PCs that we have put in place.
int ours_mark = 0;

}  // namespace

bool has_entries(Mat a) {
  PetscBool has = PETSC_FALSE;
  check(MatHasOperation(a, MATOP_GET_ROW, &has), "looking at a matrix");
  return has == PETSC_TRUE;
}

OperatorInput<double> operator_input(const Context<double>& context, const std::string& name, Mat a) {
  if (has_entries(a)) return {std::make_unique<MatSource>(context.comm, name, a), nullptr};
  const LocalIndex rows = row_partition(a).size(context.comm.rank());
  const OnVectors multiply = [a](Vec x, Vec y) { return MatMult(a, x, y); };
  return {nullptr, on_vectors_of<ByColumns>(a, context, rows, multiply)};
}

std::unique_ptr<LinearOperator<double>> preconditioner_of(const Context<double>& context, PC pc, LocalIndex rows) {
  check(PCSetUp(pc), preparing);
  PCFailedReason failed = PC_NOERROR;
  check(PCGetFailedReason(pc, &failed), preparing);
  require(!context.comm.any(failed != PC_NOERROR),
          "the preconditioner of the program breaks down on this matrix (a zero or negative pivot)");
  Mat a = nullptr;
  check(PCGetOperators(pc, &a, nullptr), preparing);
  return on_vectors_of<ByBlocks>(a, context, rows, pc);
}

std::unique_ptr<LinearOperator<double>> preconditioner_of(const Context<double>& context, KSP ksp,
                                                          LocalIndex rows) {
  PetscBool alone = PETSC_FALSE;
  check(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(ksp), KSPPREONLY, &alone), preparing);
  PC pc = nullptr;
  check(KSPGetPC(ksp, &pc), preparing);
  if (alone == PETSC_TRUE) return preconditioner_of(context, pc, rows);
  check(KSPSetUp(ksp), preparing);
  Mat a = nullptr;
  check(KSPGetOperators(ksp, &a, nullptr), preparing);
  const OnVectors solve = [ksp](Vec x, Vec y) { return KSPSolve(ksp, x, y); };
  return on_vectors_of<ByColumns>(a, context, rows, solve);
}

const char* device_for(Mat a) { return has_vectors_on_gpu(a) ? "auto" : "host"; }

Context<double> context_for(PetscObject object, const RunConfig& config) {
  const Communicator comm = communicator_from(MPI_Comm_c2f(PetscObjectComm(object)));
  const std::optional<int> gpu = config.device == Backend::host ? std::nullopt : gpu_of_petsc();
  if (!gpu) return kept_context<double>(comm, config.device, config.halo);
  std::shared_ptr<Device> device;
  std::shared_ptr<Kernels<double>> kernels;
  comm.collectively([&] {
    device = kept_device(config.device, *gpu);
    kernels = make_kernels<double>(device);
  });
  return {comm, device, kernels, std::make_shared<Profile>(device), make_transport(comm, device, config.halo)};
}

BlockInput block_input(const std::string& name, LocalIndex rows, LocalIndex columns, std::vector<double> values) {
  const auto owned = std::make_shared<std::vector<double>>(std::move(values));
  BlockInput input;
  input.file = name;
  // The source has the memory of `owned`, which the config keeps.
  input.in_memory = [=](const Communicator& comm) -> std::unique_ptr<BlockSource> {
    return std::make_unique<ArrayBlockSource>(comm, name, BlockArray{rows, columns, owned->data()});
  };
  return input;
}

void leave_preconditioner_to_us(PC pc) {
  constexpr const char* doing = "setting a preconditioner";
  check(PCSetType(pc, PCSHELL), doing);
  check(PCShellSetContext(pc, &ours_mark), doing);
  check(PCShellSetName(pc, "chosen by block-eigs"), doing);
}

bool left_to_us(PC pc) {
  PetscBool shell = PETSC_FALSE;
  check(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), PCSHELL, &shell), "looking at a preconditioner");
  if (shell == PETSC_FALSE) return false;
  void* context = nullptr;
  check(PCShellGetContext(pc, static_cast<void*>(&context)), "looking at a preconditioner");
  return context == &ours_mark;
}

void take_column(Vec v, LocalIndex column, LocalIndex columns, std::vector<double>& values) {
  const PetscScalar* from = nullptr;
  PetscInt rows = 0;
  check(VecGetLocalSize(v, &rows), "reading a vector");
  check(VecGetArrayRead(v, &from), "reading a vector");
  for (std::ptrdiff_t i = 0; i < rows; ++i) values[static_cast<std::size_t>(i * columns + column)] = from[i];
  check(VecRestoreArrayRead(v, &from), "reading a vector");
}

}  // namespace block_eigs::petsc
