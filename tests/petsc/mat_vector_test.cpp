#include "tests/petsc/petsc_test.hpp"

// Products of a matrix of type blockcsr with vectors, against the same calls with PETSc's aij.
namespace block_eigs {
namespace {

using namespace test;

class BlockCsrVector : public PetscTest {
 protected:
  /// Square, wide, tall, and smaller than the number of ranks.
  static std::vector<Entries> shapes() {
    return {random_entries(61, 61, 5), random_entries(40, 90, 4, 2), random_entries(90, 40, 6, 3),
            random_entries(5000, 5000, 9, 4), random_entries(2, 2, 1, 5)};
  }
};

TEST_F(BlockCsrVector, TypeAndOperationsAreOurs) {
  const Pair pair = square_pair();
  EXPECT_EQ(type_of(pair.ours.get()), our_type());
  EXPECT_EQ(type_of(pair.aij.get()), aij_type());
  EXPECT_NE(operation(pair.ours.get(), MATOP_MULT), operation(pair.aij.get(), MATOP_MULT));
  EXPECT_NE(operation(pair.ours.get(), MATOP_MULT_ADD), operation(pair.aij.get(), MATOP_MULT_ADD));
  EXPECT_EQ(operation(pair.ours.get(), MATOP_MULT_TRANSPOSE), operation(pair.aij.get(), MATOP_MULT_TRANSPOSE));
}

TEST_F(BlockCsrVector, Mult) {
  for (const Entries& entries : shapes()) {
    const Pair pair(entries);
    const OwnedVec x = right_vector(pair.aij.get(), 0.1);
    const OwnedVec expected = left_vector(pair.aij.get(), 1.0);
    const OwnedVec y = left_vector(pair.ours.get(), 2.0);
    ok(MatMult(pair.aij.get(), x.get(), expected.get()));
    ok(MatMult(pair.ours.get(), x.get(), y.get()));
    expect_near(expected.get(), y.get());
  }
}

TEST_F(BlockCsrVector, MultAdd) {
  for (const Entries& entries : shapes()) {
    const Pair pair(entries);
    const OwnedVec x = right_vector(pair.aij.get(), 0.1);
    const OwnedVec z = left_vector(pair.aij.get(), 0.2);
    const OwnedVec expected = left_vector(pair.aij.get(), 1.0);
    const OwnedVec y = left_vector(pair.ours.get(), 2.0);
    ok(MatMultAdd(pair.aij.get(), x.get(), z.get(), expected.get()));
    ok(MatMultAdd(pair.ours.get(), x.get(), z.get(), y.get()));
    expect_near(expected.get(), y.get());
    ok(MatMultAdd(pair.ours.get(), x.get(), z.get(), z.get()));
    expect_near(expected.get(), z.get());
  }
}

TEST_F(BlockCsrVector, MultTransposeAndItsAdd) {
  for (const Entries& entries : shapes()) {
    const Pair pair(entries);
    const OwnedVec x = left_vector(pair.aij.get(), 0.1);
    const OwnedVec z = right_vector(pair.aij.get(), 0.2);
    const OwnedVec expected = right_vector(pair.aij.get(), 1.0);
    const OwnedVec y = right_vector(pair.ours.get(), 2.0);
    ok(MatMultTranspose(pair.aij.get(), x.get(), expected.get()));
    ok(MatMultTranspose(pair.ours.get(), x.get(), y.get()));
    expect_near(expected.get(), y.get());
    ok(MatMultTransposeAdd(pair.aij.get(), x.get(), z.get(), expected.get()));
    ok(MatMultTransposeAdd(pair.ours.get(), x.get(), z.get(), y.get()));
    expect_near(expected.get(), y.get());
  }
}

TEST_F(BlockCsrVector, NewValuesAndNewEntriesAreSeen) {
  const Pair pair = square_pair();
  const OwnedVec x = right_vector(pair.aij.get(), 0.1);
  const OwnedVec expected = left_vector(pair.aij.get(), 1.0);
  const OwnedVec y = left_vector(pair.ours.get(), 2.0);
  ok(MatMult(pair.ours.get(), x.get(), y.get()));
  const void* const first = kept_setup(pair.ours.get());
  ASSERT_NE(first, nullptr);

  pair.both([](Mat a) { ok(MatScale(a, -3.0)); });
  ok(MatMult(pair.aij.get(), x.get(), expected.get()));
  ok(MatMult(pair.ours.get(), x.get(), y.get()));
  expect_near(expected.get(), y.get());
  EXPECT_EQ(kept_setup(pair.ours.get()), first) << "set up again although the pattern is the same";

  pair.both([](Mat a) {
    ok(MatSetOption(a, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    if (world_rank() == 0) ok(MatSetValue(a, 3, 60, 2.5, ADD_VALUES));  // an empty row so far
    ok(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
    ok(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  });
  ok(MatMult(pair.aij.get(), x.get(), expected.get()));
  ok(MatMult(pair.ours.get(), x.get(), y.get()));
  expect_near(expected.get(), y.get());
}

TEST_F(BlockCsrVector, MessagesStayApartFromThoseOfTheProgram) {
  const Pair pair = square_pair();
  const OwnedVec x = right_vector(pair.aij.get(), 0.1);
  const OwnedVec expected = left_vector(pair.aij.get(), 1.0);
  const OwnedVec y = left_vector(pair.ours.get(), 2.0);
  ok(MatMult(pair.aij.get(), x.get(), expected.get()));
  // A receive of whatever comes, on the matrix's own communicator, open while the product runs.
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(pair.ours.get()));
  std::vector<double> caught(4096, -1.0);
  const int next = (world_rank() + 1) % world_size();
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(caught.data(), 4096, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
  ok(MatMult(pair.ours.get(), x.get(), y.get()));
  const double word = 17.0;
  MPI_Send(&word, 1, MPI_DOUBLE, next, 5, comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(caught[0], 17.0);
  expect_near(expected.get(), y.get());
}

}  // namespace
}  // namespace block_eigs
