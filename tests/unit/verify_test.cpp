// What the program says of eigenpairs, for vectors whose residuals are known.
#include "apps/journey/verify.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>
#include <fstream>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

namespace block_eigs {
namespace {

constexpr int rows = 40;

double eigenvalue(int k) { return 2.0 - 2.0 * std::cos(std::numbers::pi * k / (rows + 1)); }

double entry(int k, int row) {
  return std::sqrt(2.0 / (rows + 1)) * std::sin(std::numbers::pi * k * (row + 1) / (rows + 1));
}

/// What comes of the vector c v_1 + s v_2 of the one-dimensional Laplacian, whose residual is
/// (lambda_2 - lambda_1) c s at its Rayleigh quotient, where the tolerance is so many times less.
Outcome outcome_at(double excess) {
  const RunConfig config = parse_config("matrix: {generate: laplacian1d, size: [40]}", "test", {});
  const Communicator comm(MPI_COMM_WORLD);
  const Context<double> context = make_context<double>(comm, Backend::host);
  const Sources sources = open_sources(comm, config);
  Problem<double> problem = read_problem(context, sources, ReadOptions{});
  const double s = 1e-6;
  const double c = std::sqrt(1.0 - s * s);
  std::vector<double> values;
  for (int row = 0; row < rows; ++row) values.push_back(c * entry(1, row) + s * entry(2, row));
  DenseBlock<double> vector(context.device, rows, 1);
  vector.from_host(values.data());
  const double lambda = c * c * eigenvalue(1) + s * s * eigenvalue(2);
  LobpcgOptions options;
  options.tolerance = (eigenvalue(2) - eigenvalue(1)) * c * s / lambda / excess;
  return verify(problem, vector, {lambda}, false, options).outcomes.front();
}

/// Converged is what is within the tolerance, but for the rounding errors of finding that out.
TEST(Verify, ConvergedMeansWithinTheTolerance) {
  EXPECT_EQ(outcome_at(0.99), Outcome::converged);
  EXPECT_EQ(outcome_at(1.0 + 1e-10), Outcome::converged);
  EXPECT_EQ(outcome_at(1.001), Outcome::not_converged);
  EXPECT_EQ(outcome_at(1.01), Outcome::not_converged);
}

/// Four pairs of a path whose residuals are zero, of which the third is the first one once more, turned a little
/// towards the second.
TEST(Verify, ACopyOfEarlierVectorsIsNoPairOfItsOwn) {
  const RunConfig config = parse_config("matrix: {generate: laplacian1d, size: [40]}", "test", {});
  const Communicator comm(MPI_COMM_WORLD);
  const Context<double> context = make_context<double>(comm, Backend::host);
  const Sources sources = open_sources(comm, config);
  Problem<double> problem = read_problem(context, sources, ReadOptions{});
  const double s = 1e-12;
  std::vector<double> values;
  for (int row = 0; row < rows; ++row) {
    values.insert(values.end(), {entry(1, row), entry(2, row),
                                 std::sqrt(1.0 - s * s) * entry(1, row) + s * entry(2, row), entry(3, row)});
  }
  DenseBlock<double> vectors(context.device, rows, 4);
  vectors.from_host(values.data());
  const Verification found =
      verify(problem, vectors, {eigenvalue(1), eigenvalue(2), eigenvalue(1), eigenvalue(3)}, false, {});
  EXPECT_NEAR(found.orthonormality, 1.0, 1e-10);
  EXPECT_EQ(found.outcomes[0], Outcome::converged);
  EXPECT_EQ(found.outcomes[1], Outcome::converged);
  EXPECT_EQ(found.outcomes[2], Outcome::not_converged);
  EXPECT_EQ(found.outcomes[3], Outcome::converged);
}

/// Two rows of a path are coupled by 1e9. Rounding errors of float there are larger than the values of all others,
/// which double tells apart; those of a vector that is nearly in the kernel of a path are not.
TEST(Verify, FloatIsNotAtItsLimitWhereItsRoundingErrorsAreLargerThanTheValue) {
  for (const double stiff : {1e9, 1.0}) {
    const std::string file = testing::TempDir() + "path.mtx";
    std::ofstream(file) << "%%MatrixMarket matrix coordinate real symmetric\n10 10 19\n"
                        <<
        [&] {
          std::string lines;
          for (int i = 1; i <= 10; ++i) {
            const double below = i == 9 ? stiff : i == 10 ? 0.0 : 1.0;
            const double above = i == 10 ? stiff : i == 1 ? 0.0 : 1.0;
            lines += std::to_string(i) + " " + std::to_string(i) + " " + std::to_string(below + above) + "\n";
            if (i < 10)
              lines += std::to_string(i + 1) + " " + std::to_string(i) + " " + std::to_string(-below) + "\n";
          }
          return lines;
        }();
    const RunConfig config = parse_config("matrix: {file: " + file + "}", "test", {});
    const Communicator comm(MPI_COMM_WORLD);
    const Context<double> context = make_context<double>(comm, Backend::host);
    const Sources sources = open_sources(comm, config);
    Problem<double> problem = read_problem(context, sources, ReadOptions{});
    std::vector<float> values(10, std::sqrt(0.1F));
    values[9] *= 1.0F + 1e-7F;
    DenseBlock<float> vector(context.device, 10, 1);
    vector.from_host(values.data());
    const Verification found = verify(problem, vector, {0.0}, true, {});
    EXPECT_EQ(found.outcomes.front(), stiff > 1.0 ? Outcome::not_converged : Outcome::at_accuracy_limit);
  }
}

/// (K, M) of linear elements on a square mesh of triangles, `points` a side: M is as far from diagonally dominant
/// as it may be without being singular, eigenvalues of D^-1/2 M D^-1/2 from 1/2 on (Wathen, IMA J. Numer. Anal. 7,
/// 1987).
void write_pencil(const std::string& folder, int points) {
  const auto file = [&](const char* name, const auto& entry) {
    std::ofstream out(folder + name);
    std::vector<std::string> lines;
    const auto add = [&](int i, int j, int k, int l) {
      if (k < 0 || k >= points || l < 0 || l >= points) return;
      lines.push_back(std::to_string(i * points + j + 1) + " " + std::to_string(k * points + l + 1) + " " +
                      std::to_string(entry(k - i, l - j)));
    };
    for (int i = 0; i < points; ++i) {
      for (int j = 0; j < points; ++j) {
        for (const auto& [di, dj] : {std::pair{0, 0}, {0, 1}, {0, -1}, {1, 0}, {-1, 0}, {1, 1}, {-1, -1}})
          add(i, j, i + di, j + dj);
      }
    }
    out << "%%MatrixMarket matrix coordinate real general\n"
        << points * points << " " << points * points << " " << lines.size() << "\n";
    for (const std::string& line : lines) out << line << "\n";
  };
  file("k.mtx", [](int di, int dj) { return di == 0 && dj == 0 ? 4.0 : (di == 0 || dj == 0 ? -1.0 : 0.0); });
  file("m.mtx", [](int di, int dj) { return di == 0 && dj == 0 ? 0.5 : 1.0 / 12.0; });
}

/// Vectors with an error: bounds must cover how far the values are from the eigenvalues, and be known.
TEST(Verify, BoundsForConsistentMassMatrices) {
  const std::string folder = testing::TempDir();
  constexpr int points = 30;
  write_pencil(folder, points);
  const RunConfig config = parse_config(
      "matrix: {file: " + folder + "k.mtx}\nmass: {file: " + folder + "m.mtx}\n" + "eigensolver: {pairs: 4}\n",
      "test", {});
  const Communicator comm(MPI_COMM_WORLD);
  const Context<double> context = make_context<double>(comm, Backend::host);
  const Sources sources = open_sources(comm, config);
  Problem<double> problem = read_problem(context, sources, ReadOptions{});
  ASSERT_GE(problem.b->scaled_gershgorin_bound(), 2.0 - 1e-4);  // no bound by Gershgorin
  BlockSpace<double> space(context, problem.partition);
  LobpcgOptions options;
  options.pairs = 4;
  options.tolerance = 1e-10;
  options.max_iterations = 2000;
  const EigenResult<double> exact =
      lobpcg<double>(space, *problem.a, problem.b.get(), nullptr, nullptr, {}, options);
  options.tolerance = 1e-2;
  const EigenResult<double> loose =
      lobpcg<double>(space, *problem.a, problem.b.get(), nullptr, nullptr, {}, options);
  const Verification found = verify(problem, loose.eigenvectors, loose.eigenvalues, false, options);
  EXPECT_EQ(found.bounds, BoundKind::probable);
  for (std::size_t j = 0; j < 4; ++j) {
    EXPECT_GE(found.error_bounds[j], std::abs(loose.eigenvalues[j] - exact.eigenvalues[j])) << j;
    // ||r|| in the norm of B^-1 is at most sqrt(2 / smallest diagonal entry) ||r||; not much more is to be said.
    EXPECT_LE(found.error_bounds[j], 1.5 * std::sqrt(2.0 / 0.5) * found.residual_norms[j]) << j;
    EXPECT_NEAR(found.attained[j] * found.eigenvalues[j], found.residual_norms[j], 2.0 * found.residual_norms[j]);
    EXPECT_LE(found.attained[j], 1.02e-2);
    EXPECT_GT(found.by_norm[j], 0.0);
    EXPECT_LT(found.by_norm[j], found.attained[j]);
  }
  EXPECT_LT(found.orthonormality, 1e-12);
}

TEST(Verify, TellsVectorsThatAreNotOrthonormal) {
  const RunConfig config = parse_config("matrix: {generate: laplacian1d, size: [400]}", "test", {});
  const Communicator comm(MPI_COMM_WORLD);
  const Context<double> context = make_context<double>(comm, Backend::host);
  const Sources sources = open_sources(comm, config);
  Problem<double> problem = read_problem(context, sources, ReadOptions{});
  // Unit vectors, more than are looked at at a time, column 20 with a part of column 3.
  constexpr int columns = 40;
  std::vector<double> values(400 * columns, 0.0);
  for (int j = 0; j < columns; ++j) values[static_cast<std::size_t>(7 * j * columns + j)] = 1.0;
  values[7 * 3 * columns + 20] = 0.25;
  DenseBlock<double> vectors(context.device, 400, columns);
  vectors.from_host(values.data());
  const Verification found = verify(problem, vectors, std::vector<double>(columns, 2.0), false, LobpcgOptions{});
  EXPECT_DOUBLE_EQ(found.orthonormality, 0.25);
  EXPECT_EQ(found.bounds, BoundKind::rigorous);
}

}  // namespace
}  // namespace block_eigs
