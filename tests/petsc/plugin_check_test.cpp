#include <gmock/gmock.h>

#include "tests/petsc/other_petsc.hpp"
#include "tests/petsc/petsc_test.hpp"

// The plug-in refuses a PETSc that it was not built for, and says why.
namespace block_eigs {
namespace {

using namespace test;
using ::testing::AllOf;
using ::testing::HasSubstr;

class PluginCheck : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { petsc::initialize(Communicator(MPI_COMM_WORLD)); }
  void SetUp() override { other_petsc() = {}; }
  RememberedErrors errors_;
};

TEST_F(PluginCheck, AcceptsItsOwn) {
  EXPECT_EQ(MatRegisterBlockCSR(), 0);
  EXPECT_EQ(PetscDLLibraryRegister_block_eigs_petsc(), 0);
  EXPECT_EQ(errors_.message(), "");
}

TEST_F(PluginCheck, NamesAnotherVersion) {
  other_petsc().minor = 99;
  EXPECT_EQ(MatRegisterBlockCSR(), PETSC_ERR_SUP);
  EXPECT_THAT(errors_.message(), AllOf(HasSubstr("built for PETSc " + std::to_string(PETSC_VERSION_MAJOR) + "." +
                                                 std::to_string(PETSC_VERSION_MINOR)),
                                       HasSubstr("runs PETSc " + std::to_string(PETSC_VERSION_MAJOR) + ".99")));
}

TEST_F(PluginCheck, NamesComplexAndFloatScalars) {
  other_petsc().scalar = PETSC_COMPLEX;
  EXPECT_EQ(MatRegisterBlockCSR(), PETSC_ERR_SUP);
  EXPECT_THAT(errors_.message(), HasSubstr("complex scalars"));
  other_petsc().scalar = PETSC_FLOAT;
  EXPECT_EQ(MatRegisterBlockCSR(), PETSC_ERR_SUP);
  EXPECT_THAT(errors_.message(), HasSubstr("float scalars"));
}

TEST_F(PluginCheck, NamesAnotherWidthOfPetscInt) {
  const int other = 8 * sizeof(PetscInt) == 32 ? 64 : 32;
  other_petsc().index_bits = other;
  EXPECT_EQ(MatRegisterBlockCSR(), PETSC_ERR_SUP);
  EXPECT_THAT(errors_.message(), HasSubstr("PetscInt of " + std::to_string(other) + " bits"));
}

}  // namespace
}  // namespace block_eigs
