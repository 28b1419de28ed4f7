#pragma once

#include <gtest/gtest.h>
#include <petscmat.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "io/petsc/block_eigs_petsc.h"
#include "io/petsc/bridge/petsc_check.hpp"
#include "io/petsc/bridge/petsc_matrix.hpp"
#include "io/petsc/bridge/petsc_session.hpp"

// What the tests of the Mat type blockcsr share: PETSc runs, the type is registered, and matrices come in pairs,
// one of PETSc's type aij and one of ours, made by the same calls.
namespace block_eigs::test {

using petsc::OwnedMat;

struct DestroyVec {
  void operator()(_p_Vec* x) const noexcept { static_cast<void>(VecDestroy(&x)); }
};
using OwnedVec = std::unique_ptr<_p_Vec, DestroyVec>;

/// Every call to PETSc: an error throws, and GoogleTest prints what PETSc said.
inline void ok(int code) { petsc::check(code, "a call of this test"); }

/// Keeps what PETSc says of errors, in place of PETSc's own handler, which prints it.
class RememberedErrors {
 public:
  RememberedErrors() { ok(PetscPushErrorHandler(remember, &message_)); }
  RememberedErrors(const RememberedErrors&) = delete;
  RememberedErrors& operator=(const RememberedErrors&) = delete;
  ~RememberedErrors() { static_cast<void>(PetscPopErrorHandler()); }

  /// The last one, empty where there was none.
  const std::string& message() const { return message_; }

 private:
  static PetscErrorCode remember(MPI_Comm, int, const char*, const char*, PetscErrorCode code, PetscErrorType type,
                                 const char* message, void* last) {
    // The functions that it passes through add nothing.
    if (type == PETSC_ERROR_INITIAL && message != nullptr) *static_cast<std::string*>(last) = message;
    return code;
  }
  std::string message_;
};

class PetscTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    petsc::initialize(Communicator(MPI_COMM_WORLD));
    ok(MatRegisterBlockCSR());
  }
  static void TearDownTestSuite() { petsc::finalize(); }
};

inline int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

inline int world_size() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// Rows of the calling rank: uneven, and on three and more ranks none on rank 1.
inline PetscInt uneven_share(PetscInt total) {
  const int size = world_size();
  const int rank = world_rank();
  if (size == 1) return total;
  const PetscInt last = total / (size + 1);
  const PetscInt middle = size > 2 && rank == 1 ? 0 : total / (size + 2);
  if (rank == size - 1) return last;
  if (rank > 0) return middle;
  PetscInt others = last;
  for (int r = 1; r < size - 1; ++r) others += size > 2 && r == 1 ? 0 : total / (size + 2);
  return total - others;
}

/// A random sparse matrix, about `row_nonzeros` entries a row, some rows empty, the diagonal mostly there. No
/// entry comes twice: ranks would add the two in either order.
struct Entries {
  PetscInt rows = 0;
  PetscInt columns = 0;
  std::vector<PetscInt> row;
  std::vector<PetscInt> column;
  std::vector<double> value;
};

inline Entries random_entries(PetscInt rows, PetscInt columns, int row_nonzeros, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> value(-1.0, 1.0);
  Entries entries{rows, columns, {}, {}, {}};
  for (PetscInt i = 0; i < rows; ++i) {
    if (i % 7 == 3) continue;
    std::set<PetscInt> taken;
    for (int k = 0; k < row_nonzeros; ++k) {
      const PetscInt column = k == 0 && i < columns ? i : static_cast<PetscInt>(random() % columns);
      if (!taken.insert(column).second) continue;
      entries.row.push_back(i);
      entries.column.push_back(column);
      entries.value.push_back(value(random) + (k == 0 ? 4.0 : 0.0));
    }
  }
  return entries;
}

/// Entries go in where they are: every rank adds every `size`-th one, whoever owns the row.
inline OwnedMat assemble(const Entries& entries, MatType type) {
  Mat a = nullptr;
  ok(MatCreate(PETSC_COMM_WORLD, &a));
  OwnedMat owned(a);
  ok(MatSetSizes(a, uneven_share(entries.rows), uneven_share(entries.columns), entries.rows, entries.columns));
  ok(MatSetType(a, type));
  ok(MatSetUp(a));
  ok(MatSetOption(a, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (std::size_t k = 0; k < entries.row.size(); ++k) {
    if (k % static_cast<std::size_t>(world_size()) != static_cast<std::size_t>(world_rank())) continue;
    ok(MatSetValue(a, entries.row[k], entries.column[k], entries.value[k], ADD_VALUES));
  }
  ok(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  ok(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  return owned;
}

/// The same matrix twice.
struct Pair {
  OwnedMat aij;
  OwnedMat ours;

  explicit Pair(const Entries& entries) : aij(assemble(entries, MATAIJ)), ours(assemble(entries, "blockcsr")) {}
  void both(const std::function<void(Mat)>& change) const {
    change(aij.get());
    change(ours.get());
  }
};

inline Pair square_pair(PetscInt rows = 61) { return Pair(random_entries(rows, rows, 5)); }

inline std::string type_of(Mat a) {
  MatType type = nullptr;
  ok(MatGetType(a, &type));
  return type;
}

inline std::string our_type() { return world_size() == 1 ? "seqaijblockcsr" : "mpiaijblockcsr"; }
inline std::string aij_type() { return world_size() == 1 ? MATSEQAIJ : MATMPIAIJ; }

/// Values that depend on the global row alone, so that they are the same on every number of ranks.
inline void fill(Vec x, double seed) {
  PetscInt begin = 0;
  PetscInt end = 0;
  ok(VecGetOwnershipRange(x, &begin, &end));
  for (PetscInt i = begin; i < end; ++i) ok(VecSetValue(x, i, std::sin(seed + 1.7 * double(i)), INSERT_VALUES));
  ok(VecAssemblyBegin(x));
  ok(VecAssemblyEnd(x));
}

/// A vector that A multiplies (right) or makes (left).
inline OwnedVec right_vector(Mat a, double seed) {
  Vec x = nullptr;
  ok(MatCreateVecs(a, &x, nullptr));
  fill(x, seed);
  return OwnedVec(x);
}
inline OwnedVec left_vector(Mat a, double seed) {
  Vec y = nullptr;
  ok(MatCreateVecs(a, nullptr, &y));
  fill(y, seed);
  return OwnedVec(y);
}

/// Dense matrix on A's columns (rows == false) or rows, with a leading dimension larger than it need be.
inline OwnedMat dense(Mat a, PetscInt columns, double seed, bool rows = false, PetscInt spare = 3,
                      MatType type = MATDENSE) {
  PetscInt own = 0;
  PetscInt other = 0;
  ok(MatGetLocalSize(a, rows ? &own : &other, rows ? &other : &own));
  Mat b = nullptr;
  ok(MatCreate(PETSC_COMM_WORLD, &b));
  OwnedMat owned(b);
  ok(MatSetSizes(b, own, PETSC_DECIDE, PETSC_DETERMINE, columns));
  ok(MatSetType(b, type));
  ok(MatDenseSetLDA(b, own + spare));
  ok(MatSetUp(b));
  PetscInt begin = 0;
  PetscInt end = 0;
  ok(MatGetOwnershipRange(b, &begin, &end));
  for (PetscInt i = begin; i < end; ++i) {
    for (PetscInt j = 0; j < columns; ++j) {
      ok(MatSetValue(b, i, j, std::cos(seed + 0.3 * double(i) + 1.1 * double(j)), INSERT_VALUES));
    }
  }
  ok(MatAssemblyBegin(b, MAT_FINAL_ASSEMBLY));
  ok(MatAssemblyEnd(b, MAT_FINAL_ASSEMBLY));
  return owned;
}

/// A B.
inline OwnedMat product(Mat a, Mat b) {
  Mat c = nullptr;
  ok(MatMatMult(a, b, MAT_INITIAL_MATRIX, 1.0, &c));
  return OwnedMat(c);
}
/// The same into the matrix that a first product has made.
inline void multiply_again(Mat a, Mat b, const OwnedMat& c) {
  Mat result = c.get();
  ok(MatMatMult(a, b, MAT_REUSE_MATRIX, 1.0, &result));
  ASSERT_EQ(result, c.get());
}

/// Sums are formed in another order than PETSc's: a few units in the last place.
inline void expect_near(Vec x, Vec y) {
  PetscReal norm = 0.0;
  PetscReal difference = 0.0;
  ok(VecNorm(x, NORM_INFINITY, &norm));
  ok(VecAXPY(y, -1.0, x));
  ok(VecNorm(y, NORM_INFINITY, &difference));
  EXPECT_GT(norm, 0.0);
  EXPECT_LE(difference, 1e-14 * norm);
}

inline void expect_near(Mat x, Mat y) {
  PetscReal norm = 0.0;
  PetscReal difference = 0.0;
  ok(MatNorm(x, NORM_INFINITY, &norm));
  ok(MatAXPY(y, -1.0, x, SAME_NONZERO_PATTERN));
  ok(MatNorm(y, NORM_INFINITY, &difference));
  EXPECT_GT(norm, 0.0);
  EXPECT_LE(difference, 1e-14 * norm);
}

inline void expect_equal(Mat x, Mat y) {
  PetscBool equal = PETSC_FALSE;
  ok(MatEqual(x, y, &equal));
  EXPECT_TRUE(equal);
}

/// What is kept with a matrix of ours for its products; null before the first one.
inline void* kept_setup(Mat a, const char* name = "block_eigs_operators") {
  PetscObject object = nullptr;
  ok(PetscObjectQuery(reinterpret_cast<PetscObject>(a), name, &object));
  void* place = nullptr;
  if (object != nullptr) ok(PetscContainerGetPointer(reinterpret_cast<PetscContainer>(object), &place));
  return place;
}

/// The function behind an operation: tells whose it is.
inline void (*operation(Mat a, MatOperation which))() {
  void (*function)() = nullptr;
  ok(MatGetOperation(a, which, &function));
  return function;
}

}  // namespace block_eigs::test
