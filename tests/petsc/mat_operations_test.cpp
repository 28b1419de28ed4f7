#include <cstdio>

#include "tests/petsc/petsc_test.hpp"

// What a matrix of type blockcsr has from PETSc's aij: each operation does the same, and the result multiplies.
namespace block_eigs {
namespace {

using namespace test;

class BlockCsr : public PetscTest {
 protected:
  /// Equal entries, and the products of ours agree with PETSc's.
  static void expect_same(Mat aij, Mat ours, bool still_ours = true) {
    if (still_ours) {
      EXPECT_EQ(type_of(ours), our_type());
    }
    const OwnedVec x = right_vector(aij, 0.4);
    const OwnedVec expected = left_vector(aij, 1.0);
    const OwnedVec y = left_vector(ours, 2.0);
    ok(MatMult(aij, x.get(), expected.get()));
    ok(MatMult(ours, x.get(), y.get()));
    expect_near(expected.get(), y.get());
    expect_equal(aij, ours);
  }

  /// The product before the change, so that what it keeps is old by then.
  static void multiply_once(Mat a) {
    const OwnedVec x = right_vector(a, 0.3);
    const OwnedVec y = left_vector(a, 0.3);
    ok(MatMult(a, x.get(), y.get()));
  }

  static OwnedMat converted(Mat a, MatType type) {
    Mat result = nullptr;
    ok(MatConvert(a, type, MAT_INITIAL_MATRIX, &result));
    return OwnedMat(result);
  }
};

TEST_F(BlockCsr, ConvertsFromAijAndBack) {
  const Pair pair = square_pair();
  const OwnedMat ours = converted(pair.aij.get(), "blockcsr");
  expect_same(pair.aij.get(), ours.get());
  const OwnedMat back = converted(ours.get(), MATAIJ);
  EXPECT_EQ(type_of(back.get()), aij_type());
  EXPECT_EQ(operation(back.get(), MATOP_MULT), operation(pair.aij.get(), MATOP_MULT));
  EXPECT_EQ(operation(back.get(), MATOP_MULT_ADD), operation(pair.aij.get(), MATOP_MULT_ADD));
  expect_same(pair.aij.get(), back.get(), false);
}

TEST_F(BlockCsr, ConvertsInPlace) {
  const Pair pair = square_pair();
  Mat a = pair.ours.get();
  multiply_once(a);
  ok(MatConvert(a, MATAIJ, MAT_INPLACE_MATRIX, &a));
  ASSERT_EQ(a, pair.ours.get());
  EXPECT_EQ(type_of(a), aij_type());
  EXPECT_EQ(kept_setup(a), nullptr);
  expect_same(pair.aij.get(), a, false);
  ok(MatConvert(a, "blockcsr", MAT_INPLACE_MATRIX, &a));
  expect_same(pair.aij.get(), a);
  EXPECT_NE(operation(a, MATOP_MULT), operation(pair.aij.get(), MATOP_MULT));
}

TEST_F(BlockCsr, ConvertsIntoAMatrixThatIsThere) {
  const Pair pair = square_pair();
  Mat ours = converted(pair.aij.get(), "blockcsr").release();
  const OwnedMat owner(ours);
  ok(MatScale(pair.aij.get(), 2.0));
  ok(MatConvert(pair.aij.get(), "blockcsr", MAT_REUSE_MATRIX, &ours));
  expect_same(pair.aij.get(), ours);
}

TEST_F(BlockCsr, SetTypeTurnsAnAssembledMatrix) {
  const Pair pair = square_pair();
  const OwnedMat copy = converted(pair.aij.get(), MATAIJ);
  ok(MatSetType(copy.get(), "blockcsr"));
  expect_same(pair.aij.get(), copy.get());
}

TEST_F(BlockCsr, ConvertsFromOtherTypes) {
  const Pair pair = square_pair(40);
  for (const char* type : {MATDENSE, MATBAIJ}) {
    const OwnedMat other = converted(pair.aij.get(), type);
    const OwnedMat ours = converted(other.get(), "blockcsr");
    const OwnedMat aij = converted(other.get(), MATAIJ);
    expect_same(aij.get(), ours.get());
  }
  for (const char* type : {MATDENSE, MATBAIJ}) {
    const OwnedMat expected = converted(pair.aij.get(), type);
    const OwnedMat other = converted(pair.ours.get(), type);
    EXPECT_EQ(type_of(other.get()), type_of(expected.get()));
    expect_equal(expected.get(), other.get());
  }
}

TEST_F(BlockCsr, Duplicate) {
  const Pair pair = square_pair();
  multiply_once(pair.ours.get());
  Mat copy = nullptr;
  ok(MatDuplicate(pair.ours.get(), MAT_COPY_VALUES, &copy));
  const OwnedMat owned(copy);
  EXPECT_EQ(kept_setup(copy), nullptr) << "two matrices share what one of them will destroy";
  expect_same(pair.aij.get(), copy);
  ok(MatScale(pair.ours.get(), 2.0));
  expect_same(pair.aij.get(), copy);

  Mat empty = nullptr;
  ok(MatDuplicate(pair.ours.get(), MAT_DO_NOT_COPY_VALUES, &empty));
  const OwnedMat also_owned(empty);
  EXPECT_EQ(type_of(empty), our_type());
  PetscReal norm = 1.0;
  ok(MatNorm(empty, NORM_FROBENIUS, &norm));
  EXPECT_EQ(norm, 0.0);
}

TEST_F(BlockCsr, CopyAcrossTypes) {
  const Pair pair = square_pair();
  const Pair target = square_pair();
  target.both([](Mat a) { ok(MatScale(a, 5.0)); });
  multiply_once(target.ours.get());
  ok(MatCopy(pair.aij.get(), target.ours.get(), SAME_NONZERO_PATTERN));
  expect_same(pair.aij.get(), target.ours.get());
  ok(MatCopy(pair.ours.get(), target.aij.get(), SAME_NONZERO_PATTERN));
  expect_same(target.aij.get(), pair.ours.get());
}

TEST_F(BlockCsr, Axpy) {
  const Entries other_entries = random_entries(61, 61, 3, 9);
  for (const MatStructure structure : {SAME_NONZERO_PATTERN, DIFFERENT_NONZERO_PATTERN, UNKNOWN_NONZERO_PATTERN}) {
    const Pair y = square_pair();
    const Pair x(structure == SAME_NONZERO_PATTERN ? random_entries(61, 61, 5) : other_entries);
    multiply_once(y.ours.get());
    ok(MatAXPY(y.aij.get(), 0.7, x.aij.get(), structure));
    ok(MatAXPY(y.ours.get(), 0.7, x.ours.get(), structure));
    expect_same(y.aij.get(), y.ours.get());
  }
  const Pair y = square_pair();
  const Pair x(other_entries);
  ok(MatAXPY(y.aij.get(), 0.7, x.aij.get(), DIFFERENT_NONZERO_PATTERN));
  ok(MatAXPY(y.ours.get(), 0.7, x.aij.get(), DIFFERENT_NONZERO_PATTERN));
  expect_same(y.aij.get(), y.ours.get());
}

TEST_F(BlockCsr, ScaleShiftZeroRowsDiagonalScaleTranspose) {
  const Pair pair = square_pair();
  multiply_once(pair.ours.get());
  const OwnedVec d = left_vector(pair.aij.get(), 0.7);
  pair.both([](Mat a) { ok(MatScale(a, 1.5)); });
  expect_same(pair.aij.get(), pair.ours.get());
  pair.both([](Mat a) { ok(MatShift(a, 0.25)); });
  expect_same(pair.aij.get(), pair.ours.get());
  pair.both([&](Mat a) { ok(MatDiagonalScale(a, d.get(), d.get())); });
  expect_same(pair.aij.get(), pair.ours.get());
  pair.both([](Mat a) {
    const PetscInt row = 5;
    ok(MatZeroRows(a, world_rank() == 0 ? 1 : 0, &row, 2.0, nullptr, nullptr));
  });
  expect_same(pair.aij.get(), pair.ours.get());
  Mat expected = nullptr;
  Mat transposed = nullptr;
  ok(MatTranspose(pair.aij.get(), MAT_INITIAL_MATRIX, &expected));
  const OwnedMat first(expected);
  ok(MatTranspose(pair.ours.get(), MAT_INITIAL_MATRIX, &transposed));
  const OwnedMat second(transposed);
  expect_same(expected, transposed);
}

TEST_F(BlockCsr, RowsDiagonalAndNorms) {
  const Pair pair = square_pair();
  PetscInt begin = 0;
  PetscInt end = 0;
  ok(MatGetOwnershipRange(pair.ours.get(), &begin, &end));
  for (PetscInt i = begin; i < end; ++i) {
    PetscInt counts[2] = {};
    const PetscInt* columns[2] = {};
    const PetscScalar* values[2] = {};
    std::vector<PetscInt> expected_columns;
    std::vector<PetscScalar> expected_values;
    ok(MatGetRow(pair.aij.get(), i, &counts[0], &columns[0], &values[0]));
    ok(MatGetRow(pair.ours.get(), i, &counts[1], &columns[1], &values[1]));
    ASSERT_EQ(counts[0], counts[1]);
    EXPECT_TRUE(std::equal(columns[0], columns[0] + counts[0], columns[1]));
    EXPECT_TRUE(std::equal(values[0], values[0] + counts[0], values[1]));
    ok(MatRestoreRow(pair.ours.get(), i, &counts[1], &columns[1], &values[1]));
    ok(MatRestoreRow(pair.aij.get(), i, &counts[0], &columns[0], &values[0]));
  }
  const OwnedVec expected = left_vector(pair.aij.get(), 1.0);
  const OwnedVec diagonal = left_vector(pair.ours.get(), 2.0);
  ok(MatGetDiagonal(pair.aij.get(), expected.get()));
  ok(MatGetDiagonal(pair.ours.get(), diagonal.get()));
  expect_near(expected.get(), diagonal.get());
  for (const NormType type : {NORM_1, NORM_FROBENIUS, NORM_INFINITY}) {
    PetscReal norms[2] = {0.0, 1.0};
    ok(MatNorm(pair.aij.get(), type, &norms[0]));
    ok(MatNorm(pair.ours.get(), type, &norms[1]));
    EXPECT_EQ(norms[0], norms[1]);
  }
}

TEST_F(BlockCsr, DiagonalBlockAndSubmatrix) {
  const Pair pair = square_pair();
  Mat expected = nullptr;
  Mat block = nullptr;
  ok(MatGetDiagonalBlock(pair.aij.get(), &expected));
  ok(MatGetDiagonalBlock(pair.ours.get(), &block));
  expect_equal(expected, block);
  PetscInt begin = 0;
  PetscInt end = 0;
  ok(MatGetOwnershipRange(pair.ours.get(), &begin, &end));
  IS rows = nullptr;
  ok(ISCreateStride(PETSC_COMM_WORLD, (end - begin + 1) / 2, begin, 2, &rows));
  Mat parts[2] = {};
  ok(MatCreateSubMatrix(pair.aij.get(), rows, rows, MAT_INITIAL_MATRIX, &parts[0]));
  const OwnedMat first(parts[0]);
  ok(MatCreateSubMatrix(pair.ours.get(), rows, rows, MAT_INITIAL_MATRIX, &parts[1]));
  const OwnedMat second(parts[1]);
  ok(ISDestroy(&rows));
  expect_same(parts[0], parts[1], false);  // PETSc makes it of the parent's type on several ranks
}

TEST_F(BlockCsr, ViewedAndLoadedThroughAFile) {
  const Pair pair = square_pair();
  const std::string path = ::testing::TempDir() + "blockcsr_view_" + std::to_string(world_size()) + ".petsc";
  PetscViewer viewer = nullptr;
  ok(PetscViewerBinaryOpen(PETSC_COMM_WORLD, path.c_str(), FILE_MODE_WRITE, &viewer));
  ok(MatView(pair.ours.get(), viewer));
  ok(PetscViewerDestroy(&viewer));
  for (const char* type : {MATAIJ, "blockcsr"}) {
    Mat loaded = nullptr;
    ok(MatCreate(PETSC_COMM_WORLD, &loaded));
    const OwnedMat owned(loaded);
    ok(MatSetSizes(loaded, uneven_share(61), uneven_share(61), 61, 61));
    ok(MatSetType(loaded, type));
    ok(PetscViewerBinaryOpen(PETSC_COMM_WORLD, path.c_str(), FILE_MODE_READ, &viewer));
    ok(MatLoad(loaded, viewer));
    ok(PetscViewerDestroy(&viewer));
    expect_same(pair.aij.get(), loaded, std::string(type) == "blockcsr");
  }
  MPI_Barrier(PETSC_COMM_WORLD);
  if (world_rank() == 0) std::remove((path + ".info").c_str());
  if (world_rank() == 0) std::remove(path.c_str());
}

TEST_F(BlockCsr, VectorsHaveTheMatrixLayout) {
  const Pair pair(random_entries(40, 90, 4, 2));
  Vec right = nullptr;
  Vec left = nullptr;
  ok(MatCreateVecs(pair.ours.get(), &right, &left));
  const OwnedVec first(right);
  const OwnedVec second(left);
  PetscInt sizes[4] = {};
  ok(VecGetLocalSize(right, &sizes[0]));
  ok(VecGetLocalSize(left, &sizes[1]));
  ok(MatGetLocalSize(pair.ours.get(), &sizes[3], &sizes[2]));
  EXPECT_EQ(sizes[0], sizes[2]);
  EXPECT_EQ(sizes[1], sizes[3]);
}

}  // namespace
}  // namespace block_eigs
