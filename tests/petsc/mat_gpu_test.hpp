#pragma once

#include <filesystem>

#include "spmm/cuda/runtime/cuda_backend.hpp"
#include "tests/petsc/petsc_test.hpp"

// What the tests of the Mat type blockcsr with PETSc's CUDA types share.
namespace block_eigs::test {

/// A build of ours without CUDA sees none, PETSc may all the same.
inline bool have_gpu() { return cuda::device_count() > 0 || std::filesystem::exists("/dev/nvidiactl"); }

/// Skips, and says so, where PETSc has no CUDA or there is no GPU to run on.
class PetscGpuTest : public PetscTest {
 protected:
  void SetUp() override {
    PetscErrorCode (*create)(Vec) = nullptr;
    Vec x = nullptr;
    ok(VecCreate(PETSC_COMM_WORLD, &x));  // PETSc then knows its types
    ok(PetscFunctionListFind(VecList, "cuda", &create));
    ok(VecDestroy(&x));
    if (create == nullptr) GTEST_SKIP() << "this PETSc has no CUDA: nothing was tested";
    if (!have_gpu()) GTEST_SKIP() << "this machine has no GPU: nothing was tested";
  }
};

/// The same matrix as PETSc's aij with vectors on the host, and as ours with vectors on the GPU.
struct GpuPair : Pair {
  explicit GpuPair(const Entries& entries) : Pair(entries) { ok(MatSetVecType(ours.get(), "cuda")); }
};

inline GpuPair square_gpu_pair(PetscInt rows = 61) { return GpuPair(random_entries(rows, rows, 5)); }

inline OwnedMat gpu_dense(Mat a, PetscInt columns, double seed, bool rows = false, PetscInt spare = 3) {
  return dense(a, columns, seed, rows, spare, "densecuda");
}

inline void* gpu_setup(Mat a) { return kept_setup(a, "block_eigs_gpu_operators"); }

inline std::string type_of(Vec x) {
  VecType type = nullptr;
  ok(VecGetType(x, &type));
  return type;
}
inline std::string cuda_vector_type() { return world_size() == 1 ? "seqcuda" : "mpicuda"; }
inline std::string cuda_dense_type() { return world_size() == 1 ? "seqdensecuda" : "mpidensecuda"; }

/// `y` on the GPU is what PETSc has made on the host.
inline void expect_same(Mat aij, Vec expected, Vec y) {
  const OwnedVec copy = left_vector(aij, 3.0);
  ok(VecCopy(y, copy.get()));
  expect_near(expected, copy.get());
}
inline void expect_same(Mat expected, Mat c) {
  Mat copy = nullptr;
  ok(MatConvert(c, MATDENSE, MAT_INITIAL_MATRIX, &copy));
  const OwnedMat owned(copy);
  expect_near(expected, copy);
}

/// A x with both, on vectors of `seed`.
inline void expect_equal_products(const Pair& pair, double seed = 0.1) {
  const OwnedVec x = right_vector(pair.aij.get(), seed);
  const OwnedVec x_there = right_vector(pair.ours.get(), seed);
  const OwnedVec expected = left_vector(pair.aij.get(), 1.0);
  const OwnedVec y = left_vector(pair.ours.get(), 2.0);
  ok(MatMult(pair.aij.get(), x.get(), expected.get()));
  ok(MatMult(pair.ours.get(), x_there.get(), y.get()));
  expect_same(pair.aij.get(), expected.get(), y.get());
}

}  // namespace block_eigs::test
