// The judge of linear systems: right answers pass, and every kind of wrong one is called what it is.
#include "tests/battery/systems.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

extern "C" void dposv_(const char* part, const int* n, const int* sides, double* a, const int* lda, double* b,
                       const int* ldb, int* info);

namespace block_eigs::test {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr int rows = 30;

/// Two right-hand sides of a definite matrix times `size`.
Try make_problem(double size = 1.0) {
  Random random(3);
  Try one;
  one.mode = Mode::systems;
  std::vector<double> values;
  for (int i = 0; i < rows; ++i) values.push_back((1.0 + i) * size);
  one.a = with_spectrum(random, values);
  one.pairs = 2;
  one.condition = rows;
  for (int k = 0; k < 2 * rows; ++k) one.sides.values.push_back(uniform(random, -1.0, 1.0) * size);
  return one;
}

/// By LAPACK's Cholesky.
Answer exact_answer(const Try& one) {
  const int sides = 2;
  std::vector<double> a = one.a.values;
  std::vector<double> x(one.sides.values.size());
  for (std::size_t k = 0; k < x.size(); ++k) x[k % 2 * rows + k / 2] = one.sides.values[k];
  int info = 0;
  dposv_("L", &one.a.size, &sides, a.data(), &one.a.size, x.data(), &one.a.size, &info);
  EXPECT_EQ(info, 0);
  Answer answer;
  for (std::size_t k = 0; k < x.size(); ++k) answer.vectors.push_back(x[k % 2 * rows + k / 2]);
  answer.outcomes = {Outcome::converged, Outcome::converged};
  return answer;
}

Status status(const Try& one, const Answer& answer) { return judge_system(one, answer, {}, epsilon).status; }

TEST(SystemsJudge, PassesTheAnswerOfLapackAtAnySize) {
  for (const double size : {1.0, 0x1p-900, 0x1p900}) {
    const Try one = make_problem(size);
    EXPECT_EQ(status(one, exact_answer(one)), Status::ok) << size;
  }
}

TEST(SystemsJudge, FindsResidualsAboveTheLimitAtAnySize) {
  for (const double size : {1.0, 0x1p-900, 0x1p900}) {
    const Try one = make_problem(size);
    Answer answer = exact_answer(one);
    answer.vectors[7] *= 1.0 + 1e-4;
    EXPECT_EQ(status(one, answer), Status::false_converged) << size;
    answer.vectors.assign(answer.vectors.size(), 0.0);
    EXPECT_EQ(status(one, answer), Status::false_converged) << size;
    answer.vectors[0] = std::numeric_limits<double>::infinity();
    EXPECT_EQ(status(one, answer), Status::non_finite) << size;
  }
}

TEST(SystemsJudge, DoesNotLetADefiniteMatrixBeCalledSingular) {
  Try one = make_problem();
  Answer answer = exact_answer(one);
  answer.outcomes[1] = Outcome::not_converged;
  answer.remark = "max_iterations reached";
  EXPECT_EQ(status(one, answer), Status::not_converged);
  answer.remark = "A is singular to working precision";
  EXPECT_EQ(status(one, answer), Status::wrong);
  one.condition = 1e14;
  EXPECT_EQ(status(one, answer), Status::not_converged);
  one.definiteness = Definiteness::indefinite;
  EXPECT_EQ(status(one, answer), Status::refused);
}

TEST(SystemsJudge, TakesAnErrorForAnAnswerWhereItNamesTheMatrix) {
  Try one = make_problem();
  EXPECT_EQ(judge_system_error(one, "A is not positive definite", 3).status, Status::exception);
  one.definiteness = Definiteness::indefinite;
  EXPECT_EQ(judge_system_error(one, "A is not positive definite", 3).status, Status::refused);
  EXPECT_EQ(judge_system_error(one, "something", 3).status, Status::exception);
}

TEST(Systems, AreWhatTheySay) {
  int definite = 0;
  int all = 0;
  for (const Family& family : families()) {
    for (const std::uint64_t seed : {1U, 2U}) {
      const Try one = make_try(Mode::systems, family, seed);
      ++all;
      if (one.definiteness == Definiteness::definite) ++definite;
      EXPECT_EQ(one.sides.values.size(), static_cast<std::size_t>(one.a.size * one.pairs)) << family.name;
      for (const double value : one.sides.values) ASSERT_TRUE(std::isfinite(value)) << family.name << seed;
      EXPECT_EQ(one.sides.values, make_try(Mode::systems, family, seed).sides.values) << family.name;
    }
  }
  EXPECT_GT(4 * definite, 3 * all);
}

}  // namespace
}  // namespace block_eigs::test
