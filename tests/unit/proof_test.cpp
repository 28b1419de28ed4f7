// Results that lack a pair are handed to the journey, which must find it and go on: by a probe, and by inertia.
#include "apps/journey/proof.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>
#include <string>
#include <vector>

#include "apps/input/operators.hpp"
#include "apps/journey/verify.hpp"
#include "io/generate/generate.hpp"
#include "io/petsc/bridge/petsc_session.hpp"
#include "spmm/error.hpp"

namespace block_eigs {
namespace {

constexpr int pairs = 10;

class ProofTest : public testing::Test {
 protected:
  static void TearDownTestSuite() { petsc::finalize(); }

  void skip_without_factorisations() {
    config_.eigensolver.verify = Verify::inertia;
    try {
      require_proof(Communicator(MPI_COMM_WORLD), config_.eigensolver);
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("PETSc"), std::string::npos) << error.what();
      GTEST_SKIP() << error.what();
    }
  }

  /// The 11 pairs of a cube of 14^3 points without pair `removed`, handed to prove().
  void prove_without(int removed, const std::string& verify, const std::string& preconditioner) {
    config_ = parse_config("matrix: {generate: laplacian3d, size: [14, 14, 14]}\neigensolver: {pairs: " +
                               std::to_string(pairs + (removed < 0 ? 0 : 1)) + ", verify: " + verify +
                               ", preconditioner: {type: " + preconditioner + "}}\n",
                           "test", {});
    const Communicator comm(MPI_COMM_WORLD);
    const Context<double> context = make_context<double>(comm, Backend::host);
    const Sources sources = open_sources(comm, config_);
    const PreconditionerConfig& wanted = config_.eigensolver.preconditioner;
    ReadOptions reading = read_options(context, config_, wanted, false, sources.a->rows());
    reading.keep_rows = reading.keep_rows || keeps_entries_;
    Problem<double> problem = read_problem(context, sources, reading);
    const Operators<double> operators = make_operators(problem, config_, wanted, false);
    BlockSpace<double> space(context, problem.partition);
    const auto solve = [&](DenseBlock<double> initial, const LobpcgOptions& options) {
      ++solves_;
      return lobpcg<double>(space, *problem.a, nullptr, operators.preconditioner.operation.get(), nullptr,
                            std::move(initial), options);
    };
    result_ = solve({}, config_.eigensolver.options);
    if (removed >= 0) remove(space, removed);
    solves_ = 0;
    config_.eigensolver.options.pairs = pairs;
    config_.eigensolver.options.max_iterations = more_iterations_;
    const DenseBlock<double> none;
    proof_ =
        prove<double>({space, problem, operators, sources, none, config_.eigensolver, solve, granted_}, result_);
    exact_ = closed_form_laplacian_eigenvalues(config_.matrix.laplacian, pairs);
  }

  void expect_the_right_pairs() const {
    EXPECT_EQ(proof_.missing, 0) << proof_.statement;
    ASSERT_EQ(result_.eigenvalues.size(), exact_.size()) << proof_.statement;
    for (std::size_t j = 0; j < exact_.size(); ++j) EXPECT_NEAR(result_.eigenvalues[j], exact_[j], 1e-9) << j;
  }

  /// Between clusters on either side of it, whose values are 0.01 away at least.
  void expect_located(int removed) const {
    const double value = exact_[static_cast<std::size_t>(removed)];
    EXPECT_GT(proof_.missing_to, value) << proof_.statement;
    if (removed == 0) {
      EXPECT_TRUE(std::isnan(proof_.missing_from));
      EXPECT_NE(proof_.statement.find("before"), std::string::npos) << proof_.statement;
      return;
    }
    EXPECT_LT(proof_.missing_from, value) << proof_.statement;
    for (const double other : exact_) {
      if (std::abs(other - value) > 0.01) {
        EXPECT_FALSE(other > proof_.missing_from && other < proof_.missing_to) << other << " " << proof_.statement;
      }
    }
    EXPECT_NE(proof_.statement.find("between"), std::string::npos) << proof_.statement;
  }

  RunConfig config_;
  EigenResult<double> result_;
  Proof proof_;
  std::vector<double> exact_;
  int solves_ = 0;
  int more_iterations_ = 200;
  double granted_ = 0.0;
  bool keeps_entries_ = false;

 private:
  void remove(BlockSpace<double>& space, int removed) {
    SmallMatrix selection(pairs + 1, pairs);
    for (int j = 0; j < pairs; ++j) selection(j < removed ? j : j + 1, j) = 1.0;
    DenseBlock<double> vectors = space.make_block(pairs);
    space.update({result_.eigenvectors.view()}, selection, {vectors.view()});
    result_.eigenvectors = std::move(vectors);
    result_.eigenvalues.erase(result_.eigenvalues.begin() + removed);
    result_.residual_norms.erase(result_.residual_norms.begin() + removed);
    result_.outcomes.erase(result_.outcomes.begin() + removed);
  }
};

TEST_F(ProofTest, ProbesFindWhatWasRemovedAndTheSolveGoesOn) {
  for (const char* preconditioner : {"jacobi", "chebyshev"}) {
    for (const int removed : {0, 3}) {
      prove_without(removed, "probe", preconditioner);
      EXPECT_EQ(proof_.made, "probe");
      EXPECT_EQ(proof_.recovered, 1) << removed << " " << preconditioner << " " << proof_.statement;
      EXPECT_EQ(solves_, 1);
      expect_the_right_pairs();
      EXPECT_EQ(static_cast<std::size_t>(result_.iterations), result_.history.size());
    }
  }
}

TEST_F(ProofTest, WholeResultsStayAsTheyAre) {
  for (const char* verify : {"residuals", "probe"}) {
    prove_without(-1, verify, "none");
    EXPECT_EQ(proof_.made, verify);
    EXPECT_EQ(solves_, 0);
    EXPECT_EQ(proof_.recovered, 0);
    expect_the_right_pairs();
  }
  EXPECT_GT(proof_.smallest_gap, 0.0);
  EXPECT_EQ(proof_.confidence, 0.99);
  EXPECT_NE(proof_.statement.find("confidence 99%"), std::string::npos) << proof_.statement;
}

TEST_F(ProofTest, WithoutIterationsLeftTheMissingPairIsSaid) {
  more_iterations_ = 0;
  prove_without(3, "probe", "none");
  EXPECT_EQ(proof_.missing, 1);
  EXPECT_EQ(proof_.recovered, 0);
  EXPECT_NE(proof_.statement.find("at least 1 pair is missing"), std::string::npos) << proof_.statement;
  Verification verified;
  verified.outcomes.assign(pairs, Outcome::converged);
  verified.by_norm.assign(pairs, 1e-9);
  give_up_missing(verified, proof_);
  EXPECT_EQ(verified.outcomes.back(), Outcome::not_converged);
  EXPECT_EQ(verified.outcomes[pairs - 2], Outcome::converged);
}

/// What is missing still is said, and where.
TEST_F(ProofTest, InertiaSaysWhereAPairIsMissing) {
  skip_without_factorisations();
  if (IsSkipped()) return;
  more_iterations_ = 0;
  for (const int removed : {0, 3, 9}) {
    prove_without(removed, "inertia", "jacobi");
    EXPECT_EQ(proof_.missing, 1) << proof_.statement;
    EXPECT_EQ(proof_.counted, pairs);
    expect_located(removed);
  }
  // Any of the last ones will do.
  prove_without(10, "inertia", "jacobi");
  EXPECT_EQ(proof_.missing, 0) << proof_.statement;
  EXPECT_TRUE(std::isnan(proof_.missing_to));
}

/// Any pair, of whatever multiplicity, whatever the preconditioner.
TEST_F(ProofTest, InertiaCountsWhatIsMissing) {
  skip_without_factorisations();
  if (IsSkipped()) return;
  for (const int removed : {0, 2, 5, 9}) {
    prove_without(removed, "inertia", removed == 5 ? "amg" : "jacobi");
    EXPECT_EQ(proof_.made, "inertia");
    EXPECT_EQ(proof_.recovered, 1) << removed << " " << proof_.statement;
    EXPECT_EQ(proof_.counted, pairs) << removed << " " << proof_.statement;
    expect_the_right_pairs();
    expect_located(removed);
  }
  prove_without(-1, "inertia", "jacobi");
  EXPECT_EQ(proof_.counted, pairs);
  EXPECT_EQ(solves_, 0);
  EXPECT_NE(proof_.statement.find("10 found: none missed"), std::string::npos) << proof_.statement;
}

/// One factorisation is all that is left to pay. The factors are those of the preconditioner, which goes on with
/// its own where a pair is missing.
TEST_F(ProofTest, AutoTakesInertiaWhereFactorsSolved) {
  skip_without_factorisations();
  if (IsSkipped()) return;
  for (const int removed : {-1, 0, 3}) {
    prove_without(removed, "auto", "direct");
    EXPECT_EQ(proof_.made, "inertia") << proof_.statement;
    EXPECT_EQ(proof_.counted, pairs) << proof_.statement;
    EXPECT_EQ(proof_.recovered, removed < 0 ? 0 : 1) << proof_.statement;
    EXPECT_LE(static_cast<int>(result_.history.size()), 60) << "iterations with factors of another matrix";
    expect_the_right_pairs();
  }
}

TEST_F(ProofTest, AutoTakesInertiaWhereItIsGrantedAndEntriesAreThere) {
  skip_without_factorisations();
  if (IsSkipped()) return;
  prove_without(3, "auto", "chebyshev");
  EXPECT_EQ(proof_.made, "probe") << proof_.statement;
  EXPECT_EQ(proof_.recovered, 1) << proof_.statement;
  granted_ = 1e12;
  prove_without(-1, "auto", "chebyshev");
  EXPECT_EQ(proof_.made, "probe") << "no entries to count with: " << proof_.statement;
  keeps_entries_ = true;
  prove_without(3, "auto", "chebyshev");
  const bool alone = Communicator(MPI_COMM_WORLD).size() == 1;
  EXPECT_EQ(proof_.made, alone ? "inertia" : "probe") << proof_.statement;
  EXPECT_EQ(proof_.recovered, 1) << proof_.statement;
  expect_the_right_pairs();
  granted_ = 0.0;
  prove_without(-1, "auto", "chebyshev");
  EXPECT_EQ(proof_.made, "probe") << "a count costs more than a quarter of this solve: " << proof_.statement;
}

}  // namespace
}  // namespace block_eigs
