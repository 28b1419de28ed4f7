#include "apps/bench/peers/petsc_product.hpp"

#include <petscdevice.h>
#include <petscmat.h>

#include "io/petsc/block_eigs_petsc.h"
#include "io/petsc/bridge/petsc_check.hpp"
#include "io/petsc/bridge/petsc_matrix.hpp"
#include "io/petsc/bridge/petsc_session.hpp"

namespace block_eigs::bench {

namespace {

void ok(int code) { petsc::check(code, "multiplying with PETSc"); }

/// Random numbers that start anew for every block, so that two blocks are equal.
void fill(Mat block, MPI_Comm comm) {
  PetscRandom random = nullptr;
  ok(PetscRandomCreate(comm, &random));
  ok(PetscRandomSetType(random, PETSCRAND48));
  ok(PetscRandomSetSeed(random, 1));
  ok(PetscRandomSeed(random));
  ok(MatSetRandom(block, random));
  ok(PetscRandomDestroy(&random));
}

class Product final : public PetscProduct {
 public:
  Product(petsc::OwnedMat a, MPI_Comm comm, int columns, bool on_gpu) : a_(std::move(a)) {
    PetscInt own = 0;
    ok(MatGetLocalSize(a_.get(), nullptr, &own));
    ok(MatCreate(comm, &b_));
    ok(MatSetSizes(b_, own, PETSC_DECIDE, PETSC_DETERMINE, columns > 0 ? columns : 1));
    ok(MatSetType(b_, on_gpu ? "densecuda" : MATDENSE));
    ok(MatSetUp(b_));
    if (on_gpu) ok(MatSetVecType(a_.get(), "cuda"));
    fill(b_, comm);
    if (columns > 0) {
      ok(MatMatMult(a_.get(), b_, MAT_INITIAL_MATRIX, 1.0, &c_));
      return;
    }
    ok(MatDuplicate(b_, MAT_DO_NOT_COPY_VALUES, &c_));
    ok(MatDenseGetColumnVecRead(b_, 0, &x_));
    ok(MatCreateVecs(a_.get(), nullptr, &y_));
    multiply();
  }

  ~Product() override {
    if (x_ != nullptr) static_cast<void>(MatDenseRestoreColumnVecRead(b_, 0, &x_));
    static_cast<void>(VecDestroy(&y_));
    static_cast<void>(MatDestroy(&c_));
    static_cast<void>(MatDestroy(&b_));
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  void multiply() override {
    if (x_ != nullptr) {
      ok(MatMult(a_.get(), x_, y_));
    } else {
      ok(MatMatMult(a_.get(), b_, MAT_REUSE_MATRIX, 1.0, &c_));
    }
  }

  void finish() override {
    PetscDeviceContext context = nullptr;
    ok(PetscDeviceContextGetCurrentContext(&context));
    ok(PetscDeviceContextSynchronize(context));
  }

  double difference(PetscProduct& other) override {
    auto& that = dynamic_cast<Product&>(other);
    PetscReal norm = 0.0;
    PetscReal apart = 0.0;
    if (x_ != nullptr) {
      ok(VecNorm(y_, NORM_INFINITY, &norm));
      ok(VecAXPY(y_, -1.0, that.y_));
      ok(VecNorm(y_, NORM_INFINITY, &apart));
    } else {
      ok(MatNorm(c_, NORM_INFINITY, &norm));
      ok(MatAXPY(c_, -1.0, that.c_, SAME_NONZERO_PATTERN));
      ok(MatNorm(c_, NORM_INFINITY, &apart));
    }
    return apart / norm;
  }

  std::string type() const override {
    MatType name = nullptr;
    ok(MatGetType(a_.get(), &name));
    return name;
  }

 private:
  petsc::OwnedMat a_;
  Mat b_ = nullptr;
  Mat c_ = nullptr;
  Vec x_ = nullptr;  ///< the column of B where vectors are multiplied, else null
  Vec y_ = nullptr;
};

}  // namespace

std::unique_ptr<PetscProduct> petsc_product(const Communicator& comm, const CsrRows& rows,
                                            const Partition& partition, const std::string& type, int columns,
                                            bool on_gpu) {
  petsc::initialize(comm);
  ok(MatRegisterBlockCSR());
  petsc::OwnedMat a = petsc::make_aij(comm, rows, partition);
  Mat converted = a.get();
  ok(MatConvert(a.get(), type.c_str(), MAT_INPLACE_MATRIX, &converted));
  return std::make_unique<Product>(std::move(a), comm.handle(), columns, on_gpu);
}

void end_petsc_products() { petsc::finalize(); }

}  // namespace block_eigs::bench
