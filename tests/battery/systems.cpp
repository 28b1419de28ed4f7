#include "tests/battery/systems.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "apps/input/stopwatch.hpp"
#include "apps/journey/linear_solve.hpp"
#include "apps/journey/scaled_units.hpp"
#include "apps/journey/stages.hpp"
#include "tests/battery/reference.hpp"

namespace block_eigs::test {

namespace {

/// Eigenvalues of A / scale, with a diagonal of ones where that is possible: scaling of rows and columns hides no
/// definiteness.
std::vector<double> balanced_eigenvalues(const DenseMatrix& a, double scale) {
  bool positive = true;
  for (int i = 0; i < a.size; ++i) positive = positive && a(i, i) > 0.0;
  std::vector<double> values;
  for (int i = 0; i < a.size; ++i) {
    for (int j = 0; j < a.size; ++j) {
      const double product = positive ? std::sqrt(a(i, i) / scale) * std::sqrt(a(j, j) / scale) : 1.0;
      values.push_back(a(i, j) / scale / product);
    }
  }
  return dense_eigenvalues(std::move(values), a.size);
}

void classify(Try& one) {
  const std::vector<double> values = balanced_eigenvalues(one.a, scale_of(one.a));
  const double largest = std::max(std::abs(values.front()), std::abs(values.back()));
  const double rounding = 1e-15 * one.a.size * largest;
  one.definiteness = values.front() > rounding    ? Definiteness::definite
                     : values.front() > -rounding ? Definiteness::semidefinite
                                                  : Definiteness::indefinite;
  if (one.definiteness == Definiteness::definite) one.condition = values.back() / values.front();
}

/// A plus so much of the identity that it is positive definite with a condition of up to 1e10.
void make_definite(Random& random, DenseMatrix& a) {
  const double scale = scale_of(a);
  std::vector<double> values = a.values;
  for (double& value : values) value /= scale;
  values = dense_eigenvalues(std::move(values), a.size);
  const double width = std::max(1e-3, values.back() - values.front());
  const double shift = -values.front() + width * std::pow(10.0, -uniform(random, 0.0, 10.0));
  for (int i = 0; i < a.size; ++i) a(i, i) += shift * scale;
}

Sides make_sides(Random& random, const Try& one) {
  const int n = one.a.size;
  const double scale = scale_of(one.a);
  Sides sides;
  const int kind = whole(random, 0, 9);
  const bool in_range = one.definiteness == Definiteness::semidefinite ? kind < 8 : kind < 4;
  const SmallMatrix drawn = kind == 9 ? random_matrix(random, n, one.pairs) : random_sides(random, n, one.pairs);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < one.pairs; ++j) sides.values.push_back(drawn(i, j));
  }
  sides.kind = in_range ? "in_range" : "random";
  if (in_range) sides.values = product(one.a, scale, sides.values, static_cast<std::size_t>(one.pairs));
  double factor = scale;
  if (whole(random, 0, 4) == 0) {
    factor *= std::pow(10.0, uniform(random, -18.0, 18.0));
    sides.kind += "_scaled";
  } else if (whole(random, 0, 9) == 0 && scale > 1e-100 && scale < 1e100) {
    factor *= 1e-180;
    sides.kind += "_tiny";
  }
  for (double& value : sides.values) value *= factor;
  return sides;
}

/// The section linear_solver, or nothing; `precision` becomes that of the run.
std::string draw_solver(Random& random, const Try& one, std::string& precision) {
  if (whole(random, 0, 1) == 0) return "";
  std::string text = "linear_solver:\n";
  const auto add = [&](const char* key, const std::string& value) {
    text += fmt::format("  {}: {}\n", key, value);
  };
  const double scale = scale_of(one.a);
  const bool common = scale > 1e-8 && scale < 1e12 && one.sides.kind.find('_', 3) == std::string::npos;
  if (whole(random, 0, 3) == 0 && common) precision = "float";
  const std::string preconditioner = draw_preconditioner(random);
  if (!preconditioner.empty()) add("preconditioner", preconditioner);
  add("tolerance",
      whole(random, 0, 9) == 0 ? "0" : fmt::format("1e-{}", whole(random, 2, precision == "float" ? 6 : 13)));
  if (whole(random, 0, 1) == 0) add("block_size", std::to_string(whole(random, 1, 20)));
  const bool multigrid = preconditioner.find("amg") != std::string::npos;
  if (precision == "double" && !multigrid && whole(random, 0, 2) == 0) add("inner_precision", "float");
  return text + "  max_iterations: 2000\n";
}

/// The stages of apps/journey/solve.cpp without what it prints and writes.
template <class T>
Answer solve(const Communicator& comm, const Try& one, const RunConfig& config) {
  const LinearSolverConfig& asked = config.linear_solver;
  const Context<T> context = make_context<T>(comm, config.device, config.halo);
  Sources sources;
  sources.a = std::make_unique<MemorySource>(one.a, comm.rank());
  const Stopwatch all;
  Problem<T> problem = read_problem(context, sources, config, asked.preconditioner, iterates_in_float<T>(asked));
  BlockSpace<T> space(context, problem.partition);
  const DenseBlock<T> f = own_rows(space, one.sides.values, one.pairs);
  LinearSolver<T> solver = make_linear_solver(problem, config, one.pairs);
  BlockCgResult<T> result = solve_linear(space, problem, solver, f, DenseBlock<T>{});
  SolutionCheck checked{result.rhs_norms, result.residual_norms, result.outcomes};
  undo_scaling(problem.scaling, space, result);
  return {{},
          all_rows(space, result.solution),
          checked.residual_norms,
          checked.outcomes,
          result.total_iterations,
          all.seconds(),
          result.remark};
}

}  // namespace

const char* name_of(Definiteness definiteness) {
  return definiteness == Definiteness::definite       ? "definite"
         : definiteness == Definiteness::semidefinite ? "semidefinite"
                                                      : "indefinite";
}

Try make_system(const Family& family, std::uint64_t seed) {
  constexpr std::array counts{1, 2, 3, 4, 8, 16, 20};
  Random random = random_of(Mode::systems, family, seed);
  Try one;
  one.mode = Mode::systems;
  one.family = family.name;
  one.seed = seed;
  one.pairs = counts[static_cast<std::size_t>(whole(random, 0, static_cast<int>(counts.size()) - 1))];
  one.a = family.make(random, whole(random, 0, 5) == 0 ? whole(random, 1, 60) : whole(random, 60, 400));
  classify(one);
  if (one.definiteness != Definiteness::definite && whole(random, 0, 9) < 8) {
    make_definite(random, one.a);
    classify(one);
  }
  one.sides = make_sides(random, one);
  std::string precision = "double";
  const std::string solver = draw_solver(random, one, precision);
  one.yaml =
      fmt::format("matrix: {{file: memory}}\nprecision: {}\ndevice: host\nright_hand_sides: {{random: {}}}\n{}",
                  precision, one.pairs, solver);
  return one;
}

Answer solve_system(const Communicator& comm, const Try& one, const RunConfig& config) {
  return config.precision == Precision::float32 ? solve<float>(comm, one, config)
                                                : solve<double>(comm, one, config);
}

}  // namespace block_eigs::test
