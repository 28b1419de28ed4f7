#include "tests/petsc/petsc_test.hpp"

// Products of a matrix of type blockcsr with other matrices, against the same calls with PETSc's aij.
namespace block_eigs {
namespace {

using namespace test;

class BlockCsrProduct : public PetscTest {};

TEST_F(BlockCsrProduct, DenseOfAnyWidth) {
  for (const auto& [rows, columns] : {std::pair{61, 61}, {40, 90}, {3000, 2000}, {2, 2}}) {
    const Pair pair(random_entries(rows, columns, 5, 6));
    for (const PetscInt width : {1, 2, 4, 5, 8, 11, 16, 17, 40}) {
      SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns) + ", " + std::to_string(width));
      const OwnedMat b = dense(pair.aij.get(), width, 0.5);
      const OwnedMat expected = product(pair.aij.get(), b.get());
      const OwnedMat c = product(pair.ours.get(), b.get());
      EXPECT_EQ(type_of(c.get()), type_of(b.get()));
      EXPECT_NE(kept_setup(pair.ours.get()), nullptr) << "PETSc's product ran instead of ours";
      expect_near(expected.get(), c.get());
    }
  }
}

TEST_F(BlockCsrProduct, ReuseWithNewValuesAndNewBlock) {
  const Pair pair = square_pair();
  const OwnedMat b = dense(pair.aij.get(), 16, 0.5);
  const OwnedMat other = dense(pair.aij.get(), 16, 0.9, false, 0);
  const OwnedMat expected = product(pair.aij.get(), b.get());
  const OwnedMat c = product(pair.ours.get(), b.get());
  const void* const first = kept_setup(pair.ours.get());
  pair.both([](Mat a) { ok(MatScale(a, -2.0)); });
  ok(MatScale(expected.get(), -2.0));
  multiply_again(pair.ours.get(), b.get(), c);
  EXPECT_EQ(kept_setup(pair.ours.get()), first) << "the symbolic phase was paid again";
  expect_near(expected.get(), c.get());

  pair.both([](Mat a) { ok(MatShift(a, 1.0)); });  // rows 3, 10, ... have had no diagonal
  const OwnedMat expected_now = product(pair.aij.get(), other.get());
  multiply_again(pair.ours.get(), other.get(), c);
  expect_near(expected_now.get(), c.get());
}

TEST_F(BlockCsrProduct, IntoABlockOfTheCaller) {
  const Pair pair(random_entries(40, 90, 4, 2));
  const OwnedMat b = dense(pair.aij.get(), 5, 0.5);
  const OwnedMat expected = product(pair.aij.get(), b.get());
  const OwnedMat c = dense(pair.ours.get(), 5, 0.8, true);
  multiply_again(pair.ours.get(), b.get(), c);
  expect_near(expected.get(), c.get());
}

TEST_F(BlockCsrProduct, WrongShapesAreErrors) {
  const Pair pair(random_entries(40, 90, 4, 2));
  const OwnedMat b = dense(pair.aij.get(), 5, 0.5);
  const OwnedMat narrow = dense(pair.ours.get(), 4, 0.8, true);
  Mat c = narrow.get();
  EXPECT_NE(MatMatMult(pair.ours.get(), b.get(), MAT_REUSE_MATRIX, 1.0, &c), 0);
  const OwnedMat tall = dense(pair.aij.get(), 5, 0.5, true);
  Mat result = nullptr;
  EXPECT_NE(MatMatMult(pair.ours.get(), tall.get(), MAT_INITIAL_MATRIX, 1.0, &result), 0);
}

TEST_F(BlockCsrProduct, TransposeTimesDense) {
  const Pair pair(random_entries(40, 90, 4, 2));
  const OwnedMat b = dense(pair.aij.get(), 6, 0.5, true);
  Mat expected = nullptr;
  Mat c = nullptr;
  ok(MatTransposeMatMult(pair.aij.get(), b.get(), MAT_INITIAL_MATRIX, 1.0, &expected));
  const OwnedMat first(expected);
  ok(MatTransposeMatMult(pair.ours.get(), b.get(), MAT_INITIAL_MATRIX, 1.0, &c));
  const OwnedMat second(c);
  expect_near(expected, c);
}

TEST_F(BlockCsrProduct, DenseTimesSparse) {
  const Pair pair = square_pair();
  // The columns of the dense factor are dealt as the rows of the sparse one.
  Mat left = nullptr;
  ok(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, uneven_share(61), 7, 61, nullptr, &left));
  const OwnedMat owned(left);
  ok(MatSetRandom(left, nullptr));
  const OwnedMat expected = product(left, pair.aij.get());
  const OwnedMat c = product(left, pair.ours.get());
  expect_near(expected.get(), c.get());
}

TEST_F(BlockCsrProduct, SparseTimesSparse) {
  const Pair pair = square_pair();
  const Pair p(random_entries(61, 20, 2, 8));
  const OwnedMat expected = product(pair.aij.get(), p.aij.get());
  for (Mat right : {p.ours.get(), p.aij.get()}) {
    const OwnedMat c = product(pair.ours.get(), right);
    expect_near(expected.get(), c.get());
  }
  const OwnedMat mixed = product(pair.aij.get(), p.ours.get());
  expect_near(expected.get(), mixed.get());

  Mat galerkin[2] = {};
  ok(MatPtAP(pair.aij.get(), p.aij.get(), MAT_INITIAL_MATRIX, 2.0, &galerkin[0]));
  const OwnedMat first(galerkin[0]);
  ok(MatPtAP(pair.ours.get(), p.ours.get(), MAT_INITIAL_MATRIX, 2.0, &galerkin[1]));
  const OwnedMat second(galerkin[1]);
  expect_near(galerkin[0], galerkin[1]);
}

}  // namespace
}  // namespace block_eigs
