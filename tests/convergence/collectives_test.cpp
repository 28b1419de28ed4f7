#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "io/generate/generate.hpp"
#include "solver/block_cg/block_cg.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "solver/preconditioner/chebyshev.hpp"
#include "solver/preconditioner/jacobi.hpp"
#include "tests/support/eigen_problem.hpp"
#include "tests/support/linear_problem.hpp"
#include "tests/support/mpi_collectives.hpp"

// How many collective calls an iteration makes, by MPI or through memory that ranks share.
namespace block_eigs {
namespace {

using test::CountingOperator;
using test::Problem;
using test::RuleSource;

enum class Kind { none, jacobi, chebyshev };

template <class T>
std::unique_ptr<LinearOperator<T>> make_preconditioner(Problem<T>& problem, Kind kind) {
  if (kind == Kind::jacobi) return std::make_unique<Jacobi<T>>(problem.context, problem.matrix.diagonal());
  if (kind == Kind::none) return nullptr;
  return std::make_unique<Chebyshev<T>>(problem.context, problem.matrix, problem.matrix.diagonal(),
                                        problem.matrix.scaled_gershgorin_bound(), ChebyshevOptions{6, 0.0});
}

constexpr GlobalIndex side = 12;

/// A Laplacian on a cuboid without multiple eigenvalues.
std::unique_ptr<MatrixSource> stiffness() {
  return laplacian3d(Communicator(MPI_COMM_WORLD), {.size = {side, side + 1, side + 2}});
}

/// Diagonally dominant, with rows of different size.
RuleSource mass() {
  return RuleSource(side * (side + 1) * (side + 2), [](GlobalIndex i, GlobalIndex j) {
    const double size = 1.0 + static_cast<double>((i + j) % 7);
    return i == j ? size : std::abs(i - j) == 1 ? 0.2 : 0.0;
  });
}

/// What went by from one report to the next.
struct Step {
  long collectives = 0;
  long products = 0;  ///< columns multiplied by A
  int columns = 0;    ///< of them, those of an iteration
};

/// Takes down the steps of a solve.
template <class T>
struct Steps {
  Steps(const CountingOperator<T>& a, const Communicator& comm) : a_(a), comm_(comm) {}

  Observer observer() {
    return [this](const IterationReport& report) {
      const long now = test::mpi_collectives() + comm_.collectives_in_memory();
      // The first one holds what went before.
      if (before_ > 0) all.push_back({now - before_, a_.count - products_, report.active_columns});
      before_ = now;
      products_ = a_.count;
    };
  }
  /// Steps with more than `most` calls among the `steady` ones, which multiply by A what an iteration has to, as
  /// many columns as the one before: they restore nothing, and none was locked.
  long above(long most, int& steady) const {
    long found = 0;
    steady = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool locks = i > 0 && all[i].columns != all[i - 1].columns;
      if (all[i].products != all[i].columns || locks) continue;
      ++steady;
      if (all[i].collectives > most) ++found;
    }
    return found;
  }

  std::vector<Step> all;

 private:
  const CountingOperator<T>& a_;
  const Communicator comm_;
  long before_ = 0;
  long products_ = 0;
};

struct EigenCase {
  Kind kind = Kind::none;
  bool with_mass = false;
  bool constrained = false;
  double tolerance = 1e-6;
  bool near_rounding = false;  ///< the tolerance is
};

template <class T>
void expect_few_in_lobpcg(const EigenCase& what) {
  SCOPED_TRACE(testing::Message() << "preconditioner " << static_cast<int>(what.kind) << ", mass "
                                  << what.with_mass << ", constraints " << what.constrained << ", tolerance "
                                  << what.tolerance << ", bytes " << sizeof(T));
  const auto source = stiffness();
  Problem<T> problem(*source);
  RuleSource mass_source = mass();
  DistributedMatrix<T> b(problem.context, mass_source.read(problem.partition), problem.partition,
                         problem.partition);
  LinearOperator<T>* const b_or_none = what.with_mass ? &b : nullptr;
  const auto preconditioner = make_preconditioner(problem, what.kind);
  LobpcgOptions options;
  options.tolerance = what.tolerance;
  options.dense_up_to = 0;
  DenseBlock<T> constraints;
  if (what.constrained) {
    options.pairs = 3;
    constraints = lobpcg<T>(problem.space, problem.matrix, b_or_none, preconditioner.get(), nullptr, {}, options)
                      .eigenvectors;
  }
  options.pairs = 8;
  CountingOperator<T> counted(problem.matrix);
  Steps<T> steps(counted, problem.comm);
  const auto result = lobpcg<T>(problem.space, counted, b_or_none, preconditioner.get(),
                                what.constrained ? &constraints : nullptr, {}, options, steps.observer());
  EXPECT_EQ(result.limitation, Limitation::none) << result.remark;
  int steady = 0;
  const long most = problem.comm.size() > 1 ? 3 : 0;
  const long more = steps.above(most, steady);
  if (what.near_rounding) {
    // One more where X^T R is asked for the first time, and for a second pass where most of a column cancels.
    EXPECT_LE(more, 1 + steady / 20);
    EXPECT_EQ(steps.above(most > 0 ? most + 1 : 0, steady), 0);
  } else {
    EXPECT_EQ(more, 0);
  }
  EXPECT_GE(2 * steady, static_cast<int>(steps.all.size())) << "hardly any of the iterations is an ordinary one";
}

template <class T>
void expect_few_in_lobpcg(double tolerance, bool near_rounding) {
  for (const Kind kind : {Kind::none, Kind::jacobi, Kind::chebyshev}) {
    for (const bool with_mass : {false, true}) {
      for (const bool constrained : {false, true}) {
        expect_few_in_lobpcg<T>({kind, with_mass, constrained, tolerance, near_rounding});
      }
    }
  }
}

TEST(Collectives, LobpcgMakesThreeAnIteration) { expect_few_in_lobpcg<double>(1e-6, false); }
TEST(Collectives, LobpcgMakesThreeNearRoundingErrors) { expect_few_in_lobpcg<double>(1e-11, true); }
TEST(Collectives, LobpcgMakesThreeInFloat) { expect_few_in_lobpcg<float>(1e-3, true); }

template <class T>
void expect_few_in_block_cg(Kind kind, double tolerance) {
  SCOPED_TRACE(testing::Message() << "preconditioner " << static_cast<int>(kind) << ", bytes " << sizeof(T));
  const auto source = stiffness();
  Problem<T> problem(*source);
  const auto preconditioner = make_preconditioner(problem, kind);
  CountingOperator<T> counted(problem.matrix);
  Steps<T> steps(counted, problem.comm);
  const DenseBlock<T> f = test::random_rhs(problem.space, 5);
  const auto result =
      block_cg<T>(problem.space, counted, preconditioner.get(), f, {}, {.tolerance = tolerance}, steps.observer());
  for (const Outcome outcome : result.outcomes) EXPECT_EQ(outcome, Outcome::converged) << result.remark;
  // Every 50th iteration looks how large the solutions are, to tell whether true residuals are to be computed.
  for (std::size_t i = 49; i < steps.all.size(); i += 50) steps.all[i] = {};
  int steady = 0;
  EXPECT_EQ(steps.above(problem.comm.size() > 1 ? 2 : 0, steady), 0);
  EXPECT_GE(2 * steady, static_cast<int>(steps.all.size())) << "hardly any of the iterations is an ordinary one";
}

TEST(Collectives, BlockCgMakesTwoAnIteration) {
  for (const Kind kind : {Kind::none, Kind::jacobi, Kind::chebyshev}) {
    expect_few_in_block_cg<double>(kind, 1e-9);
    expect_few_in_block_cg<float>(kind, 1e-4);
  }
}

void expect_a_true_count(const Communicator& comm) {
  const long before = test::mpi_collectives();
  std::vector<double> few(3, 1.0), many(50'000, 1.0);
  comm.sum(std::span(few));
  comm.sum(std::span(many));
  comm.sum(std::int64_t{1});
  comm.max(1.0);
  comm.broadcast(std::span(few));
  comm.broadcast(std::string("text"));
  comm.all_gather(1.0);
  comm.all_to_all(std::vector<std::vector<double>>(static_cast<std::size_t>(comm.size())));
  comm.collectively([] {});
  comm.barrier();
  EXPECT_EQ(comm.collectives(), test::mpi_collectives() - before + comm.collectives_in_memory());
}

TEST(Collectives, ACommunicatorCountsWhatItAsksFor) {
  expect_a_true_count(Communicator(MPI_COMM_WORLD, false));
  expect_a_true_count(Communicator(MPI_COMM_WORLD));
}

}  // namespace
}  // namespace block_eigs
