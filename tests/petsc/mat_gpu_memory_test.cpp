#include <petscdevice.h>

#include "io/petsc/plugin/mat_operators.hpp"
#include "tests/petsc/mat_gpu_test.hpp"

// What products on the GPU move between host and device, and their order beside PETSc's own work there. Built
// where both PETSc and this project have CUDA.
namespace block_eigs {
namespace {

using namespace test;

class BlockCsrGpuMemory : public PetscGpuTest {
 protected:
  /// Bytes that crossed since the start, as PETSc counts its own and our device ours. The object kept is a
  /// MatOperators.
  static double crossed(Mat a) {
    const TransferCount ours = static_cast<petsc::MatOperators*>(gpu_setup(a))->transferred();
    return petsc_ctog_sz + petsc_gtoc_sz + static_cast<double>(ours.to_device + ours.to_host);
  }

  static PetscOffloadMask place_of(Vec x) {
    PetscOffloadMask mask = PETSC_OFFLOAD_UNALLOCATED;
    ok(VecGetOffloadMask(x, &mask));
    return mask;
  }

  /// y = A x, x = y / |A|, again and again: every product reads what a kernel of PETSc has just been asked to
  /// write, and the other way round.
  static OwnedVec power_iteration(Mat a, PetscReal norm, int steps) {
    OwnedVec x = right_vector(a, 0.3);
    const OwnedVec y = left_vector(a, 1.0);
    for (int i = 0; i < steps; ++i) {
      ok(MatMult(a, x.get(), y.get()));
      ok(VecCopy(y.get(), x.get()));
      ok(VecScale(x.get(), 1.0 / norm));
    }
    return x;
  }

  static void expect_same_iteration(const GpuPair& pair) {
    PetscReal norm = 0.0;
    ok(MatNorm(pair.aij.get(), NORM_INFINITY, &norm));
    const OwnedVec expected = power_iteration(pair.aij.get(), norm, 60);
    const OwnedVec x = power_iteration(pair.ours.get(), norm, 60);
    const OwnedVec copy = right_vector(pair.aij.get(), 3.0);
    ok(VecCopy(x.get(), copy.get()));
    PetscReal size = 0.0;
    PetscReal apart = 0.0;
    ok(VecNorm(expected.get(), NORM_INFINITY, &size));
    ok(VecAXPY(copy.get(), -1.0, expected.get()));
    ok(VecNorm(copy.get(), NORM_INFINITY, &apart));
    EXPECT_GT(size, 0.0);
    EXPECT_LE(apart, 60 * 1e-14 * size);
  }
};

TEST_F(BlockCsrGpuMemory, ProductsAreMadeOnTheGpu) {
  const GpuPair pair = square_gpu_pair();
  expect_equal_products(pair);
  EXPECT_NE(gpu_setup(pair.ours.get()), nullptr);
  EXPECT_EQ(kept_setup(pair.ours.get()), nullptr) << "a product went through the host";
  const GpuPair other = square_gpu_pair();
  const OwnedMat b = gpu_dense(other.ours.get(), 16, 0.5);
  Mat c = nullptr;
  ok(MatMatMult(other.ours.get(), b.get(), MAT_INITIAL_MATRIX, 1.0, &c));
  const OwnedMat owned(c);
  EXPECT_NE(gpu_setup(other.ours.get()), nullptr);
  EXPECT_EQ(kept_setup(other.ours.get()), nullptr) << "a product went through the host";
}

TEST_F(BlockCsrGpuMemory, SetUpOnceAPattern) {
  const GpuPair pair = square_gpu_pair();
  expect_equal_products(pair);
  const void* const first = gpu_setup(pair.ours.get());
  ok(MatScale(pair.ours.get(), 2.0));
  const OwnedVec x = right_vector(pair.ours.get(), 0.1);
  const OwnedVec y = left_vector(pair.ours.get(), 0.2);
  ok(MatMult(pair.ours.get(), x.get(), y.get()));
  EXPECT_EQ(gpu_setup(pair.ours.get()), first);
}

TEST_F(BlockCsrGpuMemory, VectorsCrossNothing) {
  if (world_size() > 1) GTEST_SKIP() << "on several ranks the halo crosses";
  const GpuPair pair = square_gpu_pair(5000);
  Mat a = pair.ours.get();
  const OwnedVec x = right_vector(a, 0.1);
  const OwnedVec y = left_vector(a, 0.2);
  const OwnedVec z = left_vector(a, 0.3);
  ok(MatMult(a, x.get(), y.get()));
  ok(MatMultAdd(a, x.get(), y.get(), z.get()));
  const double before = crossed(a);
  for (int i = 0; i < 5; ++i) {
    ok(MatMult(a, x.get(), y.get()));
    ok(MatMultAdd(a, x.get(), y.get(), z.get()));
    ok(MatMultAdd(a, x.get(), y.get(), y.get()));
    ok(VecCopy(y.get(), x.get()));
  }
  EXPECT_EQ(crossed(a) - before, 0.0);
  EXPECT_EQ(place_of(y.get()), PETSC_OFFLOAD_GPU);
  EXPECT_EQ(place_of(z.get()), PETSC_OFFLOAD_GPU);
}

TEST_F(BlockCsrGpuMemory, BlocksCrossNothing) {
  if (world_size() > 1) GTEST_SKIP() << "on several ranks the halo crosses";
  const GpuPair pair = square_gpu_pair(5000);
  Mat a = pair.ours.get();
  for (const PetscInt width : {1, 2, 7, 16, 33}) {
    const OwnedMat b = gpu_dense(a, width, 0.5);
    Mat c = nullptr;
    ok(MatMatMult(a, b.get(), MAT_INITIAL_MATRIX, 1.0, &c));
    const OwnedMat owned(c);
    const double before = crossed(a);
    for (int i = 0; i < 5; ++i) ok(MatMatMult(a, b.get(), MAT_REUSE_MATRIX, 1.0, &c));
    EXPECT_EQ(crossed(a) - before, 0.0) << width << " columns";
  }
}

/// On several ranks whole rows of the halo cross, once out and once in, and nothing else; not even these where
/// GPUs store into each other's memory.
TEST_F(BlockCsrGpuMemory, OnlyTheHaloCrosses) {
  if (world_size() == 1) GTEST_SKIP() << "one rank has no halo";
  const GpuPair pair = square_gpu_pair(5000);
  Mat a = pair.ours.get();
  const OwnedMat b = gpu_dense(a, 16, 0.5);
  Mat c = nullptr;
  ok(MatMatMult(a, b.get(), MAT_INITIAL_MATRIX, 1.0, &c));
  const OwnedMat owned(c);
  PetscInt ghosts = 0;
  Mat ghost = nullptr;
  ok(MatMPIAIJGetSeqAIJ(a, nullptr, &ghost, nullptr));
  ok(MatGetLocalSize(ghost, nullptr, &ghosts));
  double received = static_cast<double>(ghosts);
  const double petsc_before = petsc_ctog_sz + petsc_gtoc_sz;
  double crossing = -crossed(a);
  ok(MatMatMult(a, b.get(), MAT_REUSE_MATRIX, 1.0, &c));
  crossing += crossed(a);
  EXPECT_EQ(petsc_ctog_sz + petsc_gtoc_sz, petsc_before);
  for (double* number : {&received, &crossing}) {
    MPI_Allreduce(MPI_IN_PLACE, number, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD);
  }
  EXPECT_LE(crossing, 2.0 * (world_size() - 1) * received * 16 * sizeof(double));
  if (crossing > 0.0) {
    EXPECT_GE(crossing, 2.0 * received * 16 * sizeof(double));
  }
}

TEST_F(BlockCsrGpuMemory, OrderWithPetscsWork) { expect_same_iteration(square_gpu_pair(200000)); }

/// PETSc 3.25 leaves operations on vectors in CUDA's default stream even so; products must keep in order with
/// both.
TEST_F(BlockCsrGpuMemory, OrderWithPetscsWorkWhereItsContextHasAStreamOfItsOwn) {
  PetscDeviceContext before = nullptr;
  PetscDeviceContext context = nullptr;
  ok(PetscDeviceContextGetCurrentContext(&before));
  ok(PetscDeviceContextDuplicate(before, &context));
  ok(PetscDeviceContextSetStreamType(context, PETSC_STREAM_NONBLOCKING));
  ok(PetscDeviceContextSetUp(context));
  ok(PetscDeviceContextSetCurrentContext(context));
  expect_same_iteration(square_gpu_pair(200000));
  ok(PetscDeviceContextSetCurrentContext(before));
  ok(PetscDeviceContextDestroy(&context));
}

}  // namespace
}  // namespace block_eigs
