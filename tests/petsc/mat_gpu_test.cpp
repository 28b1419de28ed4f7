#include "tests/petsc/mat_gpu_test.hpp"

// Products of a matrix of type blockcsr with vectors and dense matrices that PETSc holds on a GPU, against PETSc's
// aij on the host. They pass through host copies where this build has no CUDA and PETSc has.
namespace block_eigs {
namespace {

using namespace test;

class BlockCsrGpu : public PetscGpuTest {
 protected:
  static std::vector<Entries> shapes() {
    return {random_entries(61, 61, 5), random_entries(40, 90, 4, 2), random_entries(90, 40, 6, 3),
            random_entries(5000, 5000, 9, 4), random_entries(2, 2, 1, 5)};
  }
};

TEST_F(BlockCsrGpu, VectorsAreOnTheGpu) {
  const GpuPair pair = square_gpu_pair();
  EXPECT_EQ(type_of(right_vector(pair.ours.get(), 0.1).get()), cuda_vector_type());
  EXPECT_EQ(type_of(left_vector(pair.ours.get(), 0.1).get()), cuda_vector_type());
  Mat copy = nullptr;
  ok(MatDuplicate(pair.ours.get(), MAT_COPY_VALUES, &copy));
  const OwnedMat owned(copy);
  EXPECT_EQ(type_of(right_vector(copy, 0.1).get()), cuda_vector_type());
}

TEST_F(BlockCsrGpu, MultAndMultAdd) {
  for (const Entries& entries : shapes()) {
    const GpuPair pair(entries);
    expect_equal_products(pair);
    const OwnedVec x = right_vector(pair.aij.get(), 0.1);
    const OwnedVec x_there = right_vector(pair.ours.get(), 0.1);
    const OwnedVec z = left_vector(pair.aij.get(), 0.2);
    const OwnedVec z_there = left_vector(pair.ours.get(), 0.2);
    const OwnedVec expected = left_vector(pair.aij.get(), 1.0);
    const OwnedVec y = left_vector(pair.ours.get(), 2.0);
    ok(MatMultAdd(pair.aij.get(), x.get(), z.get(), expected.get()));
    ok(MatMultAdd(pair.ours.get(), x_there.get(), z_there.get(), y.get()));
    expect_same(pair.aij.get(), expected.get(), y.get());
    ok(MatMultAdd(pair.ours.get(), x_there.get(), z_there.get(), z_there.get()));
    expect_same(pair.aij.get(), expected.get(), z_there.get());
  }
}

TEST_F(BlockCsrGpu, HostAndGpuVectorsTogether) {
  const GpuPair pair = square_gpu_pair();
  const OwnedVec x = right_vector(pair.aij.get(), 0.1);
  const OwnedVec x_there = right_vector(pair.ours.get(), 0.1);
  const OwnedVec expected = left_vector(pair.aij.get(), 1.0);
  const OwnedVec y = left_vector(pair.aij.get(), 2.0);
  const OwnedVec y_there = left_vector(pair.ours.get(), 2.0);
  ok(MatMult(pair.aij.get(), x.get(), expected.get()));
  ok(MatMult(pair.ours.get(), x.get(), y_there.get()));
  expect_same(pair.aij.get(), expected.get(), y_there.get());
  ok(MatMult(pair.ours.get(), x_there.get(), y.get()));
  expect_near(expected.get(), y.get());
}

/// -vec_bind_below binds small vectors to the host: on some ranks alone, where shares are uneven.
TEST_F(BlockCsrGpu, VectorsBoundToTheHostOnOneRank) {
  const GpuPair pair = square_gpu_pair();
  const OwnedVec x = right_vector(pair.aij.get(), 0.1);
  const OwnedVec x_there = right_vector(pair.ours.get(), 0.1);
  const OwnedVec expected = left_vector(pair.aij.get(), 1.0);
  const OwnedVec y = left_vector(pair.ours.get(), 2.0);
  if (world_rank() == 0) {
    ok(VecBindToCPU(x_there.get(), PETSC_TRUE));
    ok(VecBindToCPU(y.get(), PETSC_TRUE));
  }
  ok(MatMult(pair.aij.get(), x.get(), expected.get()));
  ok(MatMult(pair.ours.get(), x_there.get(), y.get()));
  if (world_rank() == 0) ok(VecBindToCPU(y.get(), PETSC_FALSE));
  expect_same(pair.aij.get(), expected.get(), y.get());
}

TEST_F(BlockCsrGpu, NewValuesAndNewEntriesAreSeen) {
  const GpuPair pair = square_gpu_pair();
  expect_equal_products(pair);
  pair.both([](Mat a) { ok(MatScale(a, -3.0)); });
  expect_equal_products(pair);
  pair.both([](Mat a) { ok(MatDiagonalScale(a, left_vector(a, 0.7).get(), nullptr)); });
  expect_equal_products(pair);
  pair.both([](Mat a) {
    ok(MatSetOption(a, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    if (world_rank() == 0) ok(MatSetValue(a, 3, 60, 2.5, ADD_VALUES));  // an empty row so far
    ok(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
    ok(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  });
  expect_equal_products(pair);
}

/// Numbers of one rank, behind the back of the whole matrix.
TEST_F(BlockCsrGpu, NewValuesOnOneRankAreSeen) {
  const GpuPair pair = square_gpu_pair();
  expect_equal_products(pair);
  pair.both([](Mat a) {
    Mat own = a;
    if (world_size() > 1) ok(MatMPIAIJGetSeqAIJ(a, &own, nullptr, nullptr));
    if (world_rank() != 0) return;
    PetscScalar* values = nullptr;
    ok(MatSeqAIJGetArray(own, &values));
    values[0] *= 5.0;
    ok(MatSeqAIJRestoreArray(own, &values));
  });
  expect_equal_products(pair);
}

TEST_F(BlockCsrGpu, RowsInAnyOrderOfColumns) {
  if (world_size() > 1) GTEST_SKIP() << "such rows come from MatCreateSeqAIJWithArrays";
  PetscInt offsets[] = {0, 3, 3, 5};
  PetscInt columns[] = {2, 0, 1, 1, 0};
  PetscScalar values[] = {1.0, 2.0, 3.0, 4.0, 5.0};
  const PetscScalar x_values[] = {1.0, 10.0, 100.0};
  for (const double factor : {1.0, 2.0}) {
    Mat a = nullptr;
    ok(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, 3, 3, offsets, columns, values, &a));
    OwnedMat owned(a);
    ok(MatConvert(a, "blockcsr", MAT_INPLACE_MATRIX, &a));
    ok(MatSetVecType(a, "cuda"));
    const OwnedVec x = right_vector(a, 0.0);
    const OwnedVec y = left_vector(a, 0.0);
    for (PetscInt i = 0; i < 3; ++i) ok(VecSetValue(x.get(), i, x_values[i], INSERT_VALUES));
    ok(VecAssemblyBegin(x.get()));
    ok(VecAssemblyEnd(x.get()));
    ok(MatMult(a, x.get(), y.get()));
    if (factor != 1.0) {
      ok(MatScale(a, factor));
      ok(MatMult(a, x.get(), y.get()));
      for (PetscScalar& value : values) value /= factor;  // they are the matrix's own
    }
    const PetscScalar* found = nullptr;
    ok(VecGetArrayRead(y.get(), &found));
    EXPECT_EQ(found[0], 132.0 * factor);
    EXPECT_EQ(found[1], 0.0);
    EXPECT_EQ(found[2], 45.0 * factor);
    ok(VecRestoreArrayRead(y.get(), &found));
  }
}

TEST_F(BlockCsrGpu, DenseOfAnyWidth) {
  for (const auto& [rows, columns] : {std::pair{61, 61}, {40, 90}, {3000, 2000}, {2, 2}}) {
    const GpuPair pair(random_entries(rows, columns, 5, 6));
    for (PetscInt width = 1; width <= 33; ++width) {
      if (rows == 3000 && width % 5 != 1) continue;
      SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns) + ", " + std::to_string(width));
      const OwnedMat b = dense(pair.aij.get(), width, 0.5);
      const OwnedMat expected = product(pair.aij.get(), b.get());
      const OwnedMat b_there = gpu_dense(pair.aij.get(), width, 0.5, false, width % 4);
      const OwnedMat c = product(pair.ours.get(), b_there.get());
      EXPECT_EQ(type_of(c.get()), cuda_dense_type());
      expect_same(expected.get(), c.get());
    }
  }
}

TEST_F(BlockCsrGpu, ReuseWithNewValuesAndNewBlock) {
  const GpuPair pair = square_gpu_pair();
  const OwnedMat b = dense(pair.aij.get(), 16, 0.9);
  const OwnedMat first = gpu_dense(pair.aij.get(), 16, 0.5);
  const OwnedMat other = gpu_dense(pair.aij.get(), 16, 0.9, false, 0);
  const OwnedMat c = product(pair.ours.get(), first.get());
  pair.both([](Mat a) { ok(MatScale(a, -2.0)); });
  const OwnedMat expected = product(pair.aij.get(), b.get());
  multiply_again(pair.ours.get(), other.get(), c);
  expect_same(expected.get(), c.get());
  pair.both([](Mat a) { ok(MatShift(a, 1.0)); });  // rows 3, 10, ... have had no diagonal
  const OwnedMat expected_now = product(pair.aij.get(), b.get());
  multiply_again(pair.ours.get(), other.get(), c);
  expect_same(expected_now.get(), c.get());
}

/// Results that the caller has made, on the GPU and not, from factors on the GPU and not.
TEST_F(BlockCsrGpu, IntoABlockOfTheCaller) {
  const GpuPair pair(random_entries(40, 90, 4, 2));
  const OwnedMat b = dense(pair.aij.get(), 5, 0.5);
  const OwnedMat b_there = gpu_dense(pair.aij.get(), 5, 0.5);
  const OwnedMat expected = product(pair.aij.get(), b.get());
  for (const OwnedMat* factor : {&b, &b_there}) {
    const OwnedMat c = dense(pair.ours.get(), 5, 0.8, true);
    multiply_again(pair.ours.get(), factor->get(), c);
    expect_same(expected.get(), c.get());
    const OwnedMat c_there = gpu_dense(pair.ours.get(), 5, 0.8, true);
    multiply_again(pair.ours.get(), factor->get(), c_there);
    expect_same(expected.get(), c_there.get());
  }
}

TEST_F(BlockCsrGpu, TransposeThroughTheHost) {
  const GpuPair pair(random_entries(40, 90, 4, 2));
  const OwnedVec x = left_vector(pair.aij.get(), 0.1);
  const OwnedVec x_there = left_vector(pair.ours.get(), 0.1);
  const OwnedVec expected = right_vector(pair.aij.get(), 1.0);
  const OwnedVec y = right_vector(pair.ours.get(), 2.0);
  ok(MatMultTranspose(pair.aij.get(), x.get(), expected.get()));
  ok(MatMultTranspose(pair.ours.get(), x_there.get(), y.get()));
  const OwnedVec copy = right_vector(pair.aij.get(), 3.0);
  ok(VecCopy(y.get(), copy.get()));
  expect_near(expected.get(), copy.get());
}

TEST_F(BlockCsrGpu, ConvertedBackNothingStays) {
  const GpuPair pair = square_gpu_pair();
  expect_equal_products(pair);
  Mat a = pair.ours.get();
  ok(MatConvert(a, MATAIJ, MAT_INPLACE_MATRIX, &a));
  EXPECT_EQ(gpu_setup(a), nullptr);
  expect_equal_products(pair);
}

}  // namespace
}  // namespace block_eigs
