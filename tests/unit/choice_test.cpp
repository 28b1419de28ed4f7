#include "apps/choice/eigensolver_choice.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/eigensolver_choice.hpp"
#include "tests/support/matrix_traits.hpp"

// What `auto` takes for matrices that look like something, and when it changes its mind.
namespace block_eigs {
namespace {

using test::asked;
using test::choice_for;
using test::diffusion;
using test::iteration;
using test::type_of;

TEST(EigensolverChoice, MultigridForDiffusionsOnProcessors) {
  EXPECT_EQ(type_of(choice_for(diffusion(1e6, 7), asked())), PreconditionerType::amg);
  EXPECT_EQ(type_of(choice_for(diffusion(6e4, 7), asked(), 4e5)), PreconditionerType::amg) << "with B";
  EXPECT_EQ(choice_for(diffusion(1e6, 7), asked()).config().inner_precision, Precision::float32);
  EigensolverConfig in_double = asked();
  in_double.inner_precision_given = true;
  EXPECT_EQ(choice_for(diffusion(1e6, 7), in_double).config().inner_precision, Precision::float64)
      << "said by name";
}

/// One GPU makes the levels itself; where the host makes them, others are done before.
TEST(EigensolverChoice, OnAGpuMultigridIsForThoseWhoseLevelsItMakes) {
  EXPECT_EQ(type_of(choice_for(diffusion(2e6, 7), asked(), 0.0, Backend::cuda)), PreconditionerType::amg);
  EXPECT_NE(type_of(choice_for(diffusion(2e6, 7), asked(), 0.0, Backend::cuda, 2)), PreconditionerType::amg);
  EXPECT_NE(type_of(choice_for(diffusion(1e5, 7), asked(), 0.0, Backend::cuda)), PreconditionerType::amg)
      << "the set-up's launches take longer than filters";
}

TEST(EigensolverChoice, NoPreconditionerForTheUpperEnd) {
  EXPECT_EQ(type_of(choice_for(diffusion(1e6, 7), asked(Which::largest))), PreconditionerType::none);
}

TEST(EigensolverChoice, FiltersWhereNothingIsKnown) {
  MatrixTraits traits = diffusion(8000, 12);
  traits.zero_sums = 0.0;
  traits.least_diagonal = -3.0;
  traits.lower_bound = -traits.norm_inf;
  traits.scaled_norm = 1e4;
  const EigensolverChoice choice = choice_for(traits, asked());
  EXPECT_EQ(type_of(choice), PreconditionerType::none);
  EXPECT_TRUE(choice.config().options.filtered_start);
}

TEST(EigensolverChoice, ScaledRowsAreScaledBack) {
  MatrixTraits traits = diffusion(5000, 5);
  traits.zero_sums = 0.0;
  traits.least_row = 1e-8 * traits.norm_inf;
  traits.scaled_norm = 1e3;
  const PreconditionerType type = type_of(choice_for(traits, asked()));
  EXPECT_TRUE(type == PreconditionerType::jacobi || type == PreconditionerType::amg) << static_cast<int>(type);
}

TEST(EigensolverChoice, FiltersWhereTheLowerEndIsFarWhateverTheRows) {
  MatrixTraits traits = diffusion(40000, 13);
  traits.zero_sums = 0.0;
  traits.norm_inf = 3e6;
  traits.least_diagonal = traits.lower_bound = -3e6;
  traits.least_row = 1.0;
  traits.longest_row = 5000.0;
  traits.scaled_norm = 1e3;
  const EigensolverChoice choice = choice_for(traits, asked());
  EXPECT_EQ(type_of(choice), PreconditionerType::none);
  EXPECT_TRUE(choice.config().options.filtered_start);
}

TEST(EigensolverChoice, FiltersForTheUpperEndToo) {
  const EigensolverChoice choice = choice_for(diffusion(1e6, 7), asked(Which::largest));
  EXPECT_EQ(type_of(choice), PreconditionerType::none);
  EXPECT_TRUE(choice.config().options.filtered_start);
}

/// Columns of the block once iterations with these values have not come forward.
int columns_after(const std::vector<double>& values) {
  MatrixTraits traits = diffusion(4000, 5);
  traits.zero_sums = 0.0;
  EigensolverChoice choice = choice_for(traits, asked());
  const std::vector<double> residuals(values.size(), 1e-3);
  for (int i = 0; i < 100; ++i) {
    if (!choice.proceed(iteration(1e6, values, residuals))) break;
  }
  EXPECT_TRUE(choice.change(Limitation::stopped));
  return choice.config().options.block_size;
}

TEST(EigensolverChoice, BlocksAreWidenedForClustersButNotForMultipleValues) {
  std::vector<double> cluster, apart;
  for (int j = 0; j < 8; ++j) cluster.push_back(1.0 + 1e-6 * j), apart.push_back(1.0 + 0.1 * j);
  EXPECT_GE(columns_after(cluster), 64);
  EXPECT_EQ(columns_after(apart), 10);
  EXPECT_EQ(columns_after(std::vector<double>(8, 1.0)), 10);
}

TEST(EigensolverChoice, ChangesWhenProgressIsSlowAndStaysWhenItIsGood) {
  const std::vector<double> values(8, 1.0);
  const std::vector<double> residuals(8, 0.1);
  for (const double rate : {0.995, 0.4}) {
    EigensolverChoice choice = choice_for(diffusion(1e5, 7), asked());
    ASSERT_EQ(type_of(choice), PreconditionerType::amg);
    bool goes_on = true;
    double worst = 1e8;
    for (int i = 0; i < 200 && goes_on && worst > 1.0; ++i) {
      worst *= rate;
      goes_on = choice.proceed(iteration(worst, values, residuals));
    }
    EXPECT_EQ(goes_on, rate < 0.9);
    if (goes_on) continue;
    EXPECT_TRUE(choice.change(Limitation::stopped));
    EXPECT_NE(type_of(choice), PreconditionerType::amg);
  }
}

/// Whether the first way is gone on with while two pairs are done each iteration up to `most`, and the worst at
/// work is always one that has just begun: a window of columns that moves up.
bool goes_on_with_a_window(int most) {
  const std::vector<double> values(90, 1.0);
  const std::vector<double> residuals(90, 0.1);
  EigensolverChoice choice = choice_for(diffusion(1e5, 7), asked());
  for (int i = 0; i < 45; ++i) {
    IterationReport report = iteration(1e6, values, residuals);
    report.wanted = 90;
    report.active_columns = report.products = 20;
    report.converged = std::min(2 * i, most);
    if (!choice.proceed(report)) return false;
  }
  return true;
}

TEST(EigensolverChoice, AWindowComesForwardByThePairsThatAreDone) {
  EXPECT_TRUE(goes_on_with_a_window(90));
  EXPECT_FALSE(goes_on_with_a_window(0));
}

TEST(EigensolverChoice, AFaultyPreconditionerIsNotTakenAgain) {
  EigensolverChoice choice = choice_for(diffusion(1e5, 7), asked());
  for (int changes = 0; choice.change(Limitation::preconditioner); ++changes) {
    ASSERT_LT(changes, 5);
    EXPECT_NE(type_of(choice), PreconditionerType::amg);
  }
  EXPECT_FALSE(choice.change(Limitation::none));
}

TEST(EigensolverChoice, MultigridWithoutACoarserLevelIsPassedOver) {
  EigensolverChoice choice = choice_for(diffusion(1e5, 7), asked());
  ASSERT_EQ(type_of(choice), PreconditionerType::amg);
  EXPECT_TRUE(choice.pass_over_multigrid());
  for (int changes = 0; changes < 5; ++changes) {
    EXPECT_NE(type_of(choice), PreconditionerType::amg);
    if (!choice.change(Limitation::stopped)) break;
  }
}

/// Goes on with iterations of these values that do not come forward until multigrid is taken; its shift.
double shift_after(double lower_bound, const std::vector<double>& values) {
  MatrixTraits traits = diffusion(64000, 7);
  traits.zero_sums = 0.0;
  traits.lower_bound = lower_bound;
  EigensolverConfig config = asked();
  config.options.filtered_start = false;
  EigensolverChoice choice = choice_for(traits, config);
  EXPECT_NE(type_of(choice), PreconditionerType::amg) << "nothing is known of the values yet";
  const std::vector<double> residuals(8, 0.5);
  for (int i = 0; i < 500 && type_of(choice) != PreconditionerType::amg; ++i) {
    if (choice.proceed(iteration(1e6, values, residuals))) continue;
    EXPECT_TRUE(choice.change(Limitation::stopped));
  }
  EXPECT_EQ(type_of(choice), PreconditionerType::amg);
  return choice.config().preconditioner.amg.shift;
}

TEST(EigensolverChoice, MultigridOfAnIndefiniteMatrixIsShifted) {
  EXPECT_LT(shift_after(-8.0, {-3.0, -2.0, -1.0, 0.0, 0.1, 0.2, 0.3, 0.4}), -3.5);
}

TEST(EigensolverChoice, MultigridOfOthersIsNot) {
  // The residual alone would let the lowest value be negative.
  EXPECT_EQ(shift_after(-8.0, {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8}), 0.0);
}

TEST(MatrixTraits, OfAPathWithItsEnds) {
  // 2 on the diagonal, -1 beside it, but 1 in the first row: rows of one end add up to zero, that of the other
  // to 1.
  CsrRows rows;
  rows.global_rows = rows.global_columns = 4;
  for (GlobalIndex i = 0; i < 4; ++i) {
    for (GlobalIndex j = std::max<GlobalIndex>(i - 1, 0); j <= std::min<GlobalIndex>(i + 1, 3); ++j) {
      rows.columns.push_back(j);
      rows.values.push_back(i != j ? -1.0 : i == 0 ? 1.0 : 2.0);
    }
    rows.row_offsets.push_back(static_cast<Offset>(rows.columns.size()));
  }
  const Communicator self(MPI_COMM_SELF);
  const MatrixTraits traits = examine(self, rows, Partition::uniform(4, 1));
  EXPECT_EQ(traits.rows, 4.0);
  EXPECT_EQ(traits.nonzeros, 10.0);
  EXPECT_EQ(traits.longest_row, 3.0);
  EXPECT_EQ(traits.least_diagonal, 1.0);
  EXPECT_EQ(traits.zero_sums, 0.75);
  EXPECT_EQ(traits.dominant, 1.0);
  EXPECT_EQ(traits.lower_bound, 0.0);
  EXPECT_EQ(traits.norm_inf, 4.0);
  EXPECT_EQ(traits.least_row, 2.0);
  EXPECT_EQ(traits.scaled_norm, 2.0);
  EXPECT_TRUE(traits.like_diffusion());
  EXPECT_TRUE(traits.semidefinite());
}

/// The path, and rows that stand alone: an empty one, one of -5 and one of 1e6.
TEST(MatrixTraits, RowsThatStandAloneSayNothingOfTheOthers) {
  constexpr GlobalIndex size = 103;
  CsrRows rows;
  rows.global_rows = rows.global_columns = size;
  for (GlobalIndex i = 0; i < size; ++i) {
    for (GlobalIndex j = std::max<GlobalIndex>(i - 1, 0); j <= std::min<GlobalIndex>(i + 1, size - 4); ++j) {
      rows.columns.push_back(j);
      rows.values.push_back(i == j ? 2.0 : -1.0);
    }
    if (i >= size - 3) {
      rows.columns.resize(static_cast<std::size_t>(rows.row_offsets.back()));
      rows.values.resize(rows.columns.size());
    }
    if (i >= size - 2) {
      rows.columns.push_back(i);
      rows.values.push_back(i == size - 2 ? -5.0 : 1e6);
    }
    rows.row_offsets.push_back(static_cast<Offset>(rows.columns.size()));
  }
  const Communicator self(MPI_COMM_SELF);
  const MatrixTraits traits = examine(self, rows, Partition::uniform(size, 1));
  EXPECT_EQ(traits.rows, 103.0);
  EXPECT_EQ(traits.alone, 3.0);
  EXPECT_TRUE(traits.null_rows);
  EXPECT_EQ(traits.least_diagonal, 2.0);
  EXPECT_EQ(traits.zero_sums, 0.98);
  EXPECT_EQ(traits.dominant, 1.0);
  EXPECT_EQ(traits.lower_bound, 0.0);
  EXPECT_EQ(traits.least_row, 3.0);
  EXPECT_EQ(traits.scaled_norm, 2.0);
  EXPECT_EQ(traits.norm_inf, 1e6);
  EXPECT_TRUE(traits.like_diffusion());
  EXPECT_TRUE(traits.semidefinite());
}

/// A cycle whose first vertices are joined with so many others.
MatrixTraits cycle_with_hubs(GlobalIndex size, GlobalIndex hubs, GlobalIndex neighbours) {
  CsrRows rows;
  rows.global_rows = rows.global_columns = size;
  for (GlobalIndex i = 0; i < size; ++i) {
    for (GlobalIndex j = 0; j < size; ++j) {
      const GlobalIndex apart = std::abs(i - j);
      const bool with_hub = std::min(i, j) < hubs && std::max(i, j) <= neighbours;
      if (apart > 1 && apart < size - 1 && !with_hub) continue;
      rows.columns.push_back(j);
      rows.values.push_back(1.0);
    }
    rows.row_offsets.push_back(static_cast<Offset>(rows.columns.size()));
  }
  return examine(Communicator(MPI_COMM_SELF), rows, Partition::uniform(size, 1));
}

TEST(MatrixTraits, HubsOfAPowerLawHoldAShareOfAllEntries) {
  const MatrixTraits few = cycle_with_hubs(1000, 1, 100);
  EXPECT_TRUE(few.has_hubs());
  EXPECT_FALSE(few.scale_free());
  EXPECT_EQ(few.in_hubs, 102.0 / few.nonzeros);
  const MatrixTraits graph = cycle_with_hubs(10000, 100, 300);
  EXPECT_EQ(graph.hubs, 301.0) << "those that are joined with all hubs are some themselves";
  EXPECT_GT(graph.in_hubs, 0.3);
  EXPECT_TRUE(graph.scale_free());
  EXPECT_TRUE(cycle_with_hubs(4000, 40, 300).scale_free()) << "as R-MAT makes them of some thousand rows";
}

TEST(MatrixTraits, AWheelIsACycleBesideItsHub) {
  const MatrixTraits wheel = cycle_with_hubs(1000, 1, 999);
  EXPECT_TRUE(wheel.has_hubs());
  EXPECT_EQ(wheel.in_hubs, 1000.0 / wheel.nonzeros);
  EXPECT_FALSE(wheel.scale_free());
  const MatrixTraits dense_rows = cycle_with_hubs(1000, 20, 999);
  EXPECT_EQ(dense_rows.hubs, 20.0);
  EXPECT_EQ(dense_rows.in_hubs, 20000.0 / dense_rows.nonzeros);
  EXPECT_FALSE(dense_rows.scale_free());
}

/// Steps of the first cost twice as much here as where the state was written, those of the others four times.
TEST(Choice, AStateOfAnotherMachineIsPricedByThisOne) {
  const auto ways = [](double first, double others) {
    std::vector<Candidate> candidates(3);
    const PreconditionerType types[] = {PreconditionerType::amg, PreconditionerType::jacobi,
                                        PreconditionerType::none};
    for (int i = 0; i < 3; ++i) {
      candidates[i].preconditioner.type = types[i];
      candidates[i].step = i == 0 ? first : others;
      candidates[i].cost = (i + 1) * 100.0 * candidates[i].step;
    }
    return candidates;
  };
  Choice there(ways(1.0, 1.0), {});
  Choice here(ways(2.0, 4.0), {});
  ASSERT_TRUE(there.change(Limitation::stopped));
  here.resume(there.state(), there.current().preconditioner);
  EXPECT_EQ(here.current().preconditioner.type, PreconditionerType::jacobi);
  EXPECT_EQ(here.current().step, 4.0);
  EXPECT_EQ(here.current().cost, 800.0);
  EXPECT_EQ(here.cheapest_other(), 200.0);
  Choice again(ways(1.0, 1.0), {});
  again.resume(there.state(), there.current().preconditioner);
  EXPECT_EQ(again.state(), there.state());
}

TEST(MatrixTraits, OfADiagonalMatrixAreThoseOfItsRows) {
  CsrRows rows;
  rows.global_rows = rows.global_columns = 4;
  for (GlobalIndex i = 0; i < 4; ++i) {
    rows.columns.push_back(i);
    rows.values.push_back(static_cast<double>(i) - 1.0);
    rows.row_offsets.push_back(i + 1);
  }
  const Communicator self(MPI_COMM_SELF);
  const MatrixTraits traits = examine(self, rows, Partition::uniform(4, 1));
  EXPECT_EQ(traits.least_diagonal, -1.0);
  EXPECT_EQ(traits.lower_bound, -1.0);
  EXPECT_EQ(traits.norm_inf, 2.0);
  EXPECT_EQ(traits.mean_row(), 1.0);
  EXPECT_FALSE(traits.semidefinite());
}

}  // namespace
}  // namespace block_eigs
