#include <gmock/gmock.h>

#include "tests/petsc/mpi_calls.hpp"
#include "tests/petsc/petsc_test.hpp"

// What a matrix of type blockcsr asks of MPI.
namespace block_eigs {
namespace {

using namespace test;

class BlockCsrMpi : public PetscTest {
 protected:
  void TearDown() override { ok(PetscOptionsClearValue(nullptr, "-mat_blockcsr_halo")); }
};

/// Messages that the calling rank sends for the second product with 16 columns.
int sends_of_a_product() {
  const Pair pair = square_pair(200);  // random columns: every rank with rows needs some of every other
  const OwnedMat b = dense(pair.ours.get(), 16, 0.5);
  Mat c = nullptr;
  ok(MatMatMult(pair.ours.get(), b.get(), MAT_INITIAL_MATRIX, 1.0, &c));
  const OwnedMat owned(c);
  const int before = sends();
  ok(MatMatMult(pair.ours.get(), b.get(), MAT_REUSE_MATRIX, 1.0, &c));
  return sends() - before;
}

TEST_F(BlockCsrMpi, SixteenColumnsCostOneMessageANeighbour) {
  ok(PetscOptionsSetValue(nullptr, "-mat_blockcsr_halo", "staged"));
  int with_rows = uneven_share(200) > 0 ? 1 : 0;
  const int mine = with_rows;
  MPI_Allreduce(MPI_IN_PLACE, &with_rows, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(sends_of_a_product(), mine == 1 ? with_rows - 1 : 0);
}

TEST_F(BlockCsrMpi, RanksOfOneNodeSendNothing) { EXPECT_EQ(sends_of_a_product(), 0); }

TEST_F(BlockCsrMpi, AnUnknownWayOfHalosIsAnError) {
  ok(PetscOptionsSetValue(nullptr, "-mat_blockcsr_halo", "carrier-pigeon"));
  const OwnedMat a = assemble(random_entries(30, 30, 3), "blockcsr");
  const OwnedVec x = right_vector(a.get(), 0.3);
  const OwnedVec y = left_vector(a.get(), 0.3);
  RememberedErrors errors;
  EXPECT_EQ(MatMult(a.get(), x.get(), y.get()), PETSC_ERR_LIB);
  EXPECT_THAT(errors.message(), ::testing::HasSubstr("-mat_blockcsr_halo: unknown way of halos 'carrier-pigeon'"));
}

TEST_F(BlockCsrMpi, CommunicatorsAreGivenBack) {
  const Entries entries = random_entries(30, 30, 3);
  const auto multiply_once = [&] {
    const OwnedMat a = assemble(entries, "blockcsr");
    const OwnedVec x = right_vector(a.get(), 0.3);
    const OwnedVec y = left_vector(a.get(), 0.3);
    const int before = live_communicators();
    ok(MatMult(a.get(), x.get(), y.get()));
    EXPECT_GT(live_communicators(), before) << "the matrix works on the program's communicator";
  };
  multiply_once();
  const int before = live_communicators();
  multiply_once();
  EXPECT_EQ(live_communicators(), before);
}

}  // namespace
}  // namespace block_eigs
