#include "io/petsc/bridge/petsc_preconditioner.hpp"

#include <petscpc.h>

#include <cmath>
#include <utility>

#include "io/petsc/bridge/petsc_dense.hpp"
#include "io/petsc/bridge/petsc_matrix.hpp"
#include "io/petsc/bridge/petsc_options.hpp"
#include "io/petsc/bridge/petsc_session.hpp"
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

template <class T>
class PetscPreconditioner final : public LinearOperator<T> {
 public:
  PetscPreconditioner(const Context<T>& context, OwnedMat a, OwnedPc pc, LocalIndex rows)
      : blocks_(context, rows), a_(std::move(a)), pc_(std::move(pc)), rows_(rows) {}

  LocalIndex rows() const override { return rows_; }
  LocalIndex columns() const override { return rows_; }

  void apply(ConstBlockView<T> x, BlockView<T> y) override {
    blocks_.give(x);
    check(PCMatApply(pc_.get(), blocks_.given(), blocks_.taken()), applying);
    blocks_.take(y);
  }
  void reserve(LocalIndex columns) override { blocks_.reserve(columns); }

 private:
  DenseBlocks<T> blocks_;
  OwnedMat a_;
  OwnedPc pc_;
  LocalIndex rows_;
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
