#include "solver/lobpcg/cut_cluster.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "io/generate/generate.hpp"
#include "solver/lobpcg/lobpcg_mixed.hpp"
#include "solver/lobpcg/lobpcg_start.hpp"
#include "solver/lobpcg/lobpcg_steps.hpp"
#include "solver/multigrid/amg.hpp"
#include "solver/multigrid/smoothed_aggregation.hpp"
#include "solver/preconditioner/cast_operator.hpp"
#include "tests/support/eigen_problem.hpp"
#include "tests/support/linear_problem.hpp"

// Eigenvalues that the last wanted pair shares with guard vectors.
namespace block_eigs {
namespace {

/// 1, 2, 2, 2, and what is further off: the second of the pairs asked for is cut from a cluster of three.
double entry(GlobalIndex i, GlobalIndex j) {
  if (i != j) return 0.0;
  return i == 0 ? 1.0 : i < 4 ? 2.0 : 3.0 + static_cast<double>(i);
}

/// X of one Ritz vector of the first value and three of the second, which are a mixture of one that is known to
/// 1e-8 and of two that are known to 1e-5.
struct Cut {
  Cut() {
    state.window = make_window(options, false);
    state.x.set_columns(4);
    const std::vector<double> errors{1e-9, 1e-8, 1e-5, 1e-5};
    const DenseBlock<double> apart = test::make_rhs(problem.space, 4, [&](GlobalIndex i, int j) {
      return i == j ? 1.0 : i == j + 10 ? errors[static_cast<std::size_t>(j)] : 0.0;
    });
    SmallMatrix mixture = SmallMatrix::identity(4);  // by a reflection of the last three
    for (int i = 1; i < 4; ++i) {
      for (int j = 1; j < 4; ++j) mixture(i, j) -= 2.0 / 3.0;
    }
    problem.space.update({apart.view()}, mixture, {state.x.v()});
    state.test = residual_test(run, {30.0, 1.0, 30.0, false});
    take_ritz_vectors<double>(run, state, {1.0, 2.0, 2.0, 2.0}, image().view());
  }
  DenseBlock<double> image() {
    DenseBlock<double> ax = problem.space.make_block(4);
    problem.matrix.apply(state.x.v(), ax.view());
    return ax;
  }
  /// Largest difference from A X - X Lambda of what R is held to be.
  double error_of_r() {
    DenseBlock<double> r = problem.space.make_block(4);
    problem.space.residual(image().view(), state.x.v(), state.ritz.values, r.view());
    problem.context.kernels->axpby(1.0, state.r.view(), -1.0, r.view());
    const std::vector<double> norms = problem.space.column_norms(r.view());
    return *std::max_element(norms.begin(), norms.end());
  }

  test::RuleSource source{40, entry};
  test::Problem<double> problem{source};
  LobpcgOptions options{.pairs = 2, .tolerance = 1e-10, .block_size = 4};
  Budget budget{20};
  Observer observer;
  Proceed proceed;
  std::vector<LobpcgIteration> history;
  LobpcgRun<double> run{
      {problem.space, problem.matrix, nullptr, nullptr}, options, {}, budget, observer, proceed, history};
  LobpcgState<double> state{run.problem, options, 4, 0};
};

TEST(LobpcgCutCluster, TheBestVectorOfAMixtureIsTheWantedOne) {
  Cut cut;
  std::vector<double>& residuals = cut.state.ritz.residuals;
  const double mixed = residuals[1];
  ASSERT_GT(mixed, 1e-5);
  separate_from_guards(cut.run, cut.state, 0.1 * mixed);
  EXPECT_LT(residuals[1], 2e-7);  // 1e-8 times 14 - 2, the value of what it holds beside, is 1.2e-7
  EXPECT_LE(residuals[1], residuals[2]);
  EXPECT_LE(residuals[2], residuals[3]);
  EXPECT_LT(cut.error_of_r(), 1e-13);
  SmallMatrix gram;
  cut.problem.space.gram({cut.state.x.v()}, {cut.state.x.v()}, gram);
  for (int j = 0; j < 4; ++j) {
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(gram(i, j), i == j ? 1.0 : 0.0, 1e-9);  // as orthonormal as it was
  }
}

// A = s D and B = s I, so that ||B x|| is the root of s; images are carried along.
TEST(LobpcgCutCluster, ImagesAndResidualsAreTurnedWithXWhereThereIsAMass) {
  constexpr double apart = 1e-12;  // half a hundredth of what 1e-10 of 2 is
  for (const double size : {1e8, 1e-8}) {
    Cut cut;
    const double root = std::sqrt(size);
    test::RuleSource scaled(40, [&](GlobalIndex i, GlobalIndex j) { return size * entry(i, j); });
    test::RuleSource mass(40, [&](GlobalIndex i, GlobalIndex j) { return i == j ? size : 0.0; });
    test::Problem<double> a(scaled);
    test::Problem<double> b(mass);
    const LobpcgRun<double> run{{a.space, a.matrix, &b.matrix, nullptr},
                                cut.options,
                                {},
                                cut.budget,
                                cut.observer,
                                cut.proceed,
                                cut.history};
    LobpcgState<double> state(run.problem, cut.options, 4, 0);
    ASSERT_TRUE(state.carries_images);
    state.window = cut.state.window;
    state.test = residual_test(run, {30.0 * size, size, 30.0 * size, true});
    state.x.set_columns(4);
    state.r.set_columns(4);
    a.context.kernels->axpby(1.0 / root, cut.state.x.v(), 0.0, state.x.v());
    a.matrix.apply(state.x.v(), state.x.a());
    b.matrix.apply(state.x.v(), state.x.b());
    state.ritz = cut.state.ritz;
    state.ritz.values = {1.0, 2.0, 2.0 + apart, 2.0 + apart};
    state.ritz.norms.assign(4, 1.0 / root);
    state.ritz.image_norms.assign(4, root);
    state.ritz.residuals = a.space.residual(state.x.a(), state.x.b(), state.ritz.values, state.r.view());
    ASSERT_GT(state.ritz.residuals[1], 1e-5 * root);
    separate_from_guards(run, state, 0.0);
    EXPECT_LT(state.ritz.residuals[1], 2e-7 * root);
    DenseBlock<double> anew = a.space.make_block(4);
    const auto difference = [&](ConstBlockView<double> carried) {
      a.context.kernels->axpby(1.0, carried, -1.0, anew.view());
      const std::vector<double> norms = a.space.column_norms(anew.view());
      return *std::max_element(norms.begin(), norms.end());
    };
    a.matrix.apply(state.x.v(), anew.view());
    EXPECT_LT(difference(state.x.a()), 1e-13 * root);
    b.matrix.apply(state.x.v(), anew.view());
    EXPECT_LT(difference(state.x.b()), 1e-13 * root);
    a.space.residual(state.x.a(), state.x.b(), state.ritz.values, anew.view());
    EXPECT_LT(difference(state.r.view()), 2.0 * apart * root);
  }
}

TEST(LobpcgCutCluster, NothingIsTurnedWhereNoGuardIsMixedIn) {
  const auto residual_after = [](double before, auto&& change) {
    Cut cut;
    change(cut);
    const double mixed = cut.state.ritz.residuals[1];
    separate_from_guards(cut.run, cut.state, before);
    return cut.state.ritz.residuals[1] / mixed;
  };
  const auto as_it_is = [](Cut&) {};
  EXPECT_EQ(residual_after(1.0, as_it_is), 1.0) << "the residual has not risen";
  EXPECT_EQ(residual_after(std::numeric_limits<double>::quiet_NaN(), as_it_is), 1.0) << "nothing is known";
  EXPECT_EQ(residual_after(0.0,
                           [](Cut& cut) {
                             cut.state.ritz.values = {1.0, 2.0, 2.01, 2.01};
                           }),
            1.0)
      << "guard vectors have other values";
  EXPECT_EQ(residual_after(0.0,
                           [](Cut& cut) {
                             cut.options.tolerance = 1.0;
                             cut.state.test = residual_test(cut.run, {30.0, 1.0, 30.0, false});
                           }),
            1.0)
      << "it is done";
}

// Where guard vectors rest they are known worse by far than the wanted pairs, and once Ritz values agree to
// rounding errors any mixture of them is a Ritz vector: residuals of 1e-9 have become 1e-7 so.
TEST(LobpcgCutCluster, ResidualsDoNotRiseAgain) {
  const auto source = laplacian3d(Communicator(MPI_COMM_WORLD), {.size = {24, 24, 24}});
  test::Problem<double> problem(*source);
  Amg<float> cycle(
      with_precision<float>(problem.context),
      smoothed_aggregation(problem.context.comm, source->read(problem.partition), problem.partition, {}), {});
  CastOperator preconditioner(problem.context, cycle);
  for (const int pairs : {5, 8}) {
    const auto result =
        lobpcg_mixed(problem.space, problem.matrix, &preconditioner, {cycle.finest_matrix(), &cycle}, nullptr, {},
                     {.pairs = pairs, .tolerance = 1e-10});
    EXPECT_EQ(result.remark, "");
    double least = std::numeric_limits<double>::infinity();
    for (const LobpcgIteration& iteration : result.history) {
      if (iteration.in_float) continue;  // residuals of a recursion, which the next phase does not go on from
      const double last = iteration.residual_norms.back();
      if (least < 1e-6) {
        EXPECT_LT(last, 2.0 * least) << pairs << " pairs";
      }
      least = std::min(least, last);
    }
    EXPECT_LT(least, 1e-10) << pairs << " pairs";
  }
}

}  // namespace
}  // namespace block_eigs
