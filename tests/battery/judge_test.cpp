// The judge of the battery: right answers pass, and every kind of wrong one is called what it is.
#include "tests/battery/judge.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "spmm/error.hpp"

extern "C" void dsygv_(const int* type, const char* job, const char* part, const int* n, double* a, const int* lda,
                       double* b, const int* ldb, double* w, double* work, const int* lwork, int* info);

namespace block_eigs::test {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

Try make_problem(bool largest, MassKind mass) {
  Random random(7);
  Try one;
  one.family = "made here";
  std::vector<double> values;
  for (int i = 0; i < 40; ++i) values.push_back(i < 3 ? 1.0 : 2.0 + i);
  one.a = with_spectrum(random, values);
  one.largest = largest;
  one.mass = mass;
  one.pairs = 6;
  if (mass != MassKind::none) one.b = make_mass(random, mass, one.a.size);
  return one;
}

/// By LAPACK's dsygv.
Answer exact_answer(const Try& one) {
  const int n = one.a.size;
  std::vector<double> a = one.a.values;
  std::vector<double> b = one.b ? one.b->values : identity(n).values;
  std::vector<double> w(static_cast<std::size_t>(n));
  std::vector<double> work(static_cast<std::size_t>(64 * n));
  const int size = static_cast<int>(work.size());
  const int type = 1;
  int info = 0;
  dsygv_(&type, "V", "L", &n, a.data(), &n, b.data(), &n, w.data(), work.data(), &size, &info);
  EXPECT_EQ(info, 0);
  Answer answer;
  answer.vectors.resize(static_cast<std::size_t>(n * one.pairs));
  for (int j = 0; j < one.pairs; ++j) {
    const int from = one.largest ? n - 1 - j : j;
    answer.values.push_back(w[static_cast<std::size_t>(from)]);
    answer.outcomes.push_back(Outcome::converged);
    for (int i = 0; i < n; ++i) {
      answer.vectors[static_cast<std::size_t>(i * one.pairs + j)] = a[static_cast<std::size_t>(i + n * from)];
    }
  }
  return answer;
}

void copy_vector(const Try& one, Answer& answer, int from, int to) {
  for (int i = 0; i < one.a.size; ++i) {
    answer.vectors[static_cast<std::size_t>(i * one.pairs + to)] =
        answer.vectors[static_cast<std::size_t>(i * one.pairs + from)];
  }
  answer.values[static_cast<std::size_t>(to)] = answer.values[static_cast<std::size_t>(from)];
}

/// Pairs first .. of an answer that has more of them.
Answer without_first(const Try& more, const Answer& answer, int first) {
  const int pairs = more.pairs - first;
  Answer rest = answer;
  rest.values.erase(rest.values.begin(), rest.values.begin() + first);
  rest.outcomes.resize(static_cast<std::size_t>(pairs));
  rest.vectors.clear();
  for (int i = 0; i < more.a.size; ++i) {
    for (int j = first; j < more.pairs; ++j) {
      rest.vectors.push_back(answer.vectors[static_cast<std::size_t>(i * more.pairs + j)]);
    }
  }
  return rest;
}

Status status(const Try& one, const Answer& answer) {
  LobpcgOptions options;
  options.pairs = one.pairs;
  return judge(one, answer, options, epsilon).status;
}

class Judge : public testing::TestWithParam<std::tuple<bool, MassKind>> {
 protected:
  Try problem() const { return make_problem(std::get<0>(GetParam()), std::get<1>(GetParam())); }
};

TEST_P(Judge, PassesTheAnswerOfLapack) {
  const Try one = problem();
  EXPECT_EQ(status(one, exact_answer(one)), Status::ok);
}

TEST_P(Judge, FindsAPairThatWasLeftOut) {
  Try one = problem();
  const Answer all = exact_answer(one);
  Try fewer = one;
  fewer.pairs = 5;
  EXPECT_EQ(status(fewer, without_first(one, all, 1)), Status::missed);
}

TEST_P(Judge, FindsAResidualAboveTheLimit) {
  const Try one = problem();
  Answer answer = exact_answer(one);
  for (int i = 0; i < one.a.size; ++i) {
    answer.vectors[static_cast<std::size_t>(i * one.pairs + 4)] +=
        1e-6 * answer.vectors[static_cast<std::size_t>(i * one.pairs + 1)];
  }
  EXPECT_EQ(status(one, answer), Status::false_converged);
  answer.outcomes[4] = Outcome::not_converged;
  EXPECT_EQ(status(one, answer), Status::not_converged);
}

TEST_P(Judge, FindsAPairThatIsThereTwice) {
  const Try one = problem();
  Answer answer = exact_answer(one);
  copy_vector(one, answer, 3, 4);
  const Status found = status(one, answer);
  EXPECT_TRUE(found == Status::wrong || found == Status::missed) << name_of(found);
}

TEST_P(Judge, FindsVectorsThatAreNotOrthonormal) {
  const Try one = problem();
  Answer answer = exact_answer(one);
  // Of one eigenspace, so that residuals stay what they are.
  for (double& value : answer.vectors) value *= 1.0 + 1e-7;
  EXPECT_EQ(status(one, answer), Status::not_orthonormal);
}

TEST_P(Judge, FindsNumbersThatAreNotFinite) {
  const Try one = problem();
  Answer answer = exact_answer(one);
  answer.vectors[17] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(status(one, answer), Status::non_finite);
}

TEST_P(Judge, DoesNotMindTheSizeOfTheMatrix) {
  for (const double size : {0x1p-960, 0x1p-300, 0x1p300, 0x1p960}) {
    Try one = problem();
    Answer answer = exact_answer(one);
    for (double& value : one.a.values) value *= size;
    for (double& value : answer.values) value *= size;
    EXPECT_EQ(status(one, answer), Status::ok) << size;
    answer.values[2] *= 1.0 + 1e-6;
    EXPECT_EQ(status(one, answer), Status::false_converged) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(Ends, Judge,
                         testing::Combine(testing::Bool(), testing::Values(MassKind::none, MassKind::diagonal,
                                                                           MassKind::consistent)));

TEST(Judge, WantsAMassRefusedThatIsNotPositiveDefinite) {
  for (const MassKind kind : {MassKind::singular, MassKind::indefinite}) {
    Try one = make_problem(false, MassKind::none);
    const Answer answer = exact_answer(one);
    one.mass = kind;
    EXPECT_EQ(status(one, answer), Status::accepted);
    EXPECT_EQ(judge_error(one, {}, "mass is singular", 2).status, Status::refused);
    EXPECT_EQ(judge_error(one, {}, "mass is singular", 3).status, Status::exception);
  }
}

TEST(Judge, AllowsNoErrorAtDefaultSettings) {
  const Try one = make_problem(false, MassKind::none);
  EXPECT_EQ(judge_error(one, {}, "the preconditioner is not positive definite", 3).status, Status::exception);
  EXPECT_EQ(judge_error(one, {}, "something", 2).status, Status::exception);
}

TEST(Families, AreSymmetricFiniteAndTheSameEveryTime) {
  EXPECT_GE(families().size(), 24U);
  for (const Family& family : families()) {
    for (const std::uint64_t seed : {1U, 2U}) {
      const Try one = make_try(Mode::defaults, family, seed);
      ASSERT_GE(one.a.size, 1) << family.name;
      for (int i = 0; i < one.a.size; ++i) {
        for (int j = 0; j <= i; ++j) {
          ASSERT_EQ(one.a(i, j), one.a(j, i)) << family.name;
          ASSERT_TRUE(std::isfinite(one.a(i, j))) << family.name;
        }
      }
      EXPECT_EQ(one.a.values, make_try(Mode::defaults, family, seed).a.values) << family.name;
    }
  }
}

}  // namespace
}  // namespace block_eigs::test
