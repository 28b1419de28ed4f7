// The journey for callers in the same process: rows in their arrays, dealt as they are; checks; ends on request.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "apps/in_memory/arrays.hpp"
#include "apps/in_memory/eigen_run.hpp"
#include "apps/in_memory/estimated_norm.hpp"
#include "apps/in_memory/linear_run.hpp"
#include "apps/in_memory/mpi_runtime.hpp"
#include "spmm/error.hpp"

namespace block_eigs {
namespace {

/// Own rows of the second difference, 2 and -1, dealt in parts that grow with the rank: backwards within a row,
/// the diagonal in two parts, in 32 bits.
struct OwnRows {
  GlobalIndex size = 0;
  std::vector<std::int32_t> offsets{0};
  std::vector<std::int32_t> columns;
  std::vector<float> values;

  OwnRows(const Communicator& comm, GlobalIndex n) : size(n) {
    const GlobalIndex parts = GlobalIndex{comm.size()} * (comm.size() + 1) / 2;
    const auto begin = [&](GlobalIndex rank) { return n * (rank * (rank + 1) / 2) / parts; };
    for (GlobalIndex i = begin(comm.rank()); i < begin(comm.rank() + 1); ++i) {
      if (i + 1 < n) add(i + 1, -1.0F);
      add(i, 0.5F);
      if (i > 0) add(i - 1, -1.0F);
      add(i, 1.5F);
      offsets.push_back(static_cast<std::int32_t>(columns.size()));
    }
  }

  RowArrays arrays() const {
    return {size,
            {offsets.data(), offsets.size(), false},
            {columns.data(), columns.size(), false},
            {values.data(), values.size(), false}};
  }
  GlobalIndex rows() const { return static_cast<GlobalIndex>(offsets.size()) - 1; }

 private:
  void add(GlobalIndex column, float value) {
    columns.push_back(static_cast<std::int32_t>(column));
    values.push_back(value);
  }
};

double exact(GlobalIndex n, int j) {
  return 2.0 - 2.0 * std::cos(std::numbers::pi * (j + 1) / static_cast<double>(n + 1));
}

template <class T>
EigenInput<T> input_of(const Communicator& comm, const OwnRows& own, const std::string& solver) {
  EigenInput<T> input;
  input.config = parse_config("{matrix: {file: A}, device: host, eigensolver: {" + solver + "}}", "a test", {});
  input.partition = partition_by_counts(comm, own.rows());
  input.a.matrix = std::make_unique<CsrSource>(comm, "A", own.arrays(), input.partition);
  return input;
}

TEST(InMemory, RowsStayWhereTheyAre) {
  const Communicator comm(MPI_COMM_WORLD);
  constexpr GlobalIndex n = 4000;
  const OwnRows own(comm, n);
  const Context<double> context = make_context<double>(comm, Backend::host);
  const EigenAnswer<double> answer = run_eigensolver(context, input_of<double>(comm, own, "pairs: 3"), Proceed{});
  ASSERT_EQ(answer.pairs.eigenvalues.size(), 3U);
  for (int j = 0; j < 3; ++j)
    EXPECT_NEAR(answer.pairs.eigenvalues[static_cast<std::size_t>(j)], exact(n, j), 1e-12);
  EXPECT_EQ(answer.rows, own.rows());
  EXPECT_EQ(answer.vectors.size(), static_cast<std::size_t>(own.rows() * 3));
  EXPECT_FALSE(answer.notes.preconditioner.empty());
}

TEST(InMemory, EndsWhenItIsToldTo) {
  const Communicator comm(MPI_COMM_WORLD);
  const OwnRows own(comm, 5000);
  const Context<double> context = make_context<double>(comm, Backend::host);
  for (const std::string preconditioner : {"auto", "jacobi", "amg"}) {
    int asked = 0;
    const EigenAnswer<double> answer = run_eigensolver(
        context,
        input_of<double>(comm, own,
                         "pairs: 4, tolerance: 0, dense_up_to: 0, preconditioner: {type: " + preconditioner + "}"),
        [&](const IterationReport&) { return ++asked < 3; });
    EXPECT_EQ(asked, 3) << preconditioner;
    EXPECT_EQ(answer.pairs.eigenvalues.size(), 4U);
    EXPECT_GT(std::count(answer.pairs.converged.begin(), answer.pairs.converged.end(), false), 0);
  }
}

TEST(InMemory, LinearSolvesEndWhenTheyAreToldTo) {
  const Communicator comm(MPI_COMM_WORLD);
  const OwnRows own(comm, 3000);
  const Context<double> context = make_context<double>(comm, Backend::host);
  for (const std::string precision : {"double", "float"}) {
    LinearInput<double> input;
    input.config = parse_config(
        "{matrix: {file: A}, device: host, right_hand_sides: {random: 5}, linear_solver: "
        "{block_size: 2, preconditioner: {type: jacobi}, inner_precision: " +
            precision + "}}",
        "a test", {});
    input.partition = partition_by_counts(comm, own.rows());
    input.a.matrix = std::make_unique<CsrSource>(comm, "A", own.arrays(), input.partition);
    int asked = 0;
    const LinearAnswer<double> answer =
        run_linear_solver(context, std::move(input), [&](const IterationReport&) { return ++asked < 4; });
    EXPECT_EQ(asked, 4);
    EXPECT_EQ(answer.run.iterations, 4);
    EXPECT_EQ(answer.columns, 5);
    EXPECT_EQ(std::count(answer.solutions.converged.begin(), answer.solutions.converged.end(), false), 5);
  }
}

/// Hides what it knows.
class Hidden final : public LinearOperator<double> {
 public:
  explicit Hidden(std::unique_ptr<DistributedMatrix<double>> inner) : inner_(std::move(inner)) {}
  LocalIndex rows() const override { return inner_->rows(); }
  LocalIndex columns() const override { return inner_->columns(); }
  void apply(ConstBlockView<double> x, BlockView<double> y) override { inner_->apply(x, y); }

 private:
  std::unique_ptr<DistributedMatrix<double>> inner_;
};

RunConfig solve_config(int sides, const std::string& solver) {
  return parse_config("{matrix: {file: A}, device: host, right_hand_sides: {random: " + std::to_string(sides) +
                          "}, linear_solver: {" + solver + "}}",
                      "a test", {});
}

/// A system that is kept gives what a new one gives, whatever limits the solve before it had.
template <class T>
void expect_the_same_of_a_kept_system(const std::string& solver, double close) {
  const Communicator comm(MPI_COMM_WORLD);
  const OwnRows own(comm, 3000);
  const Partition partition = partition_by_counts(comm, own.rows());
  const Context<T> context = make_context<T>(comm, Backend::host);
  const auto source = [&] { return std::make_unique<CsrSource>(comm, "A", own.arrays(), partition); };
  LinearSystem<T> kept(context, source(), partition);
  const std::string last = solver + ", tolerance: " + (std::is_same_v<T, float> ? "1e-3" : "1e-8");
  kept.solve({solve_config(4, solver + ", tolerance: 1e-2")}, Proceed{});
  kept.solve({solve_config(4, solver + ", max_iterations: 2")}, Proceed{});
  const LinearAnswer<T> again = kept.solve({solve_config(4, last)}, Proceed{});
  LinearSystem<T> fresh(context, source(), partition);
  const LinearAnswer<T> once = fresh.solve_last({solve_config(4, last)}, Proceed{});
  EXPECT_EQ(again.run.iterations, once.run.iterations) << solver;
  EXPECT_EQ(again.solutions.converged, once.solutions.converged) << solver;
  ASSERT_EQ(again.vectors.size(), once.vectors.size());
  double largest = 0.0;
  double difference = 0.0;
  for (std::size_t i = 0; i < once.vectors.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(once.vectors[i])));
    difference = std::max(difference, std::abs(static_cast<double>(once.vectors[i] - again.vectors[i])));
  }
  EXPECT_LE(comm.max(difference), close * comm.max(largest)) << solver;
}

TEST(InMemory, WhatWasMadeOfAMatrixIsGoodForMore) {
  for (const std::string type : {"jacobi", "amg", "chebyshev"}) {
    const std::string solver = "preconditioner: {type: " + type + "}";
    expect_the_same_of_a_kept_system<double>(solver, 1e-12);
    expect_the_same_of_a_kept_system<double>(solver + ", inner_precision: float", 1e-12);
    expect_the_same_of_a_kept_system<float>(solver, 1e-5);
  }
}

TEST(InMemory, BrokenArraysAreRefusedOnAllRanks) {
  const Communicator comm(MPI_COMM_WORLD);
  OwnRows own(comm, 50);
  const Partition partition = partition_by_counts(comm, own.rows());
  const bool last = comm.rank() + 1 == comm.size();
  if (last) own.columns.back() = 50;
  EXPECT_THROW(CsrSource(comm, "A", own.arrays(), partition), Error);
  if (last) own.columns.back() = 49;
  EXPECT_NO_THROW(CsrSource(comm, "A", own.arrays(), partition));
  if (last) own.offsets.back() = 0;
  EXPECT_THROW(CsrSource(comm, "A", own.arrays(), partition), Error);
}

TEST(InMemory, BlocksAreReadByTheRowsOfTheirRank) {
  const Communicator comm(MPI_COMM_WORLD);
  std::vector<double> values(static_cast<std::size_t>(3 * (comm.rank() + 1)));
  std::iota(values.begin(), values.end(), 100.0 * comm.rank());
  const Partition partition = partition_by_counts(comm, comm.rank() + 1);
  ArrayBlockSource source(comm, "v0", {comm.rank() + 1, 3, values.data()});
  EXPECT_EQ(source.rows(), partition.rows());
  const std::vector<double> read = source.read(partition, 1, 2);
  ASSERT_EQ(read.size(), static_cast<std::size_t>(2 * (comm.rank() + 1)));
  EXPECT_EQ(read.front(), values[1]);
  EXPECT_EQ(read.back(), values.back());
  if (comm.rank() == 0) values[1] = std::nan("");
  EXPECT_THROW(source.read(partition, 0, 3), Error);
}

TEST(InMemory, NormsAreEstimatedFromBelow) {
  const Communicator comm(MPI_COMM_WORLD);
  const OwnRows own(comm, 300);
  const Partition partition = partition_by_counts(comm, own.rows());
  const Context<double> context = make_context<double>(comm, Backend::host);
  CsrSource source(comm, "A", own.arrays(), partition);
  auto matrix = std::make_unique<DistributedMatrix<double>>(context, source.read(partition), partition, partition);
  BlockSpace<double> space(context, partition);
  const auto known = with_estimated_norm<double>(space, std::make_unique<Hidden>(std::move(matrix)));
  EXPECT_LE(known->norm_scale(), 4.0);
  EXPECT_GE(known->norm_scale(), 3.0);
  EXPECT_TRUE(std::isnan(known->norm_inf())) << "it may be too small for a bound";
}

TEST(InMemory, LargestOfAnOperator) {
  const Communicator comm(MPI_COMM_WORLD);
  constexpr GlobalIndex n = 300;
  const OwnRows own(comm, n);
  const Partition partition = partition_by_counts(comm, own.rows());
  const Context<double> context = make_context<double>(comm, Backend::host);
  for (const std::string which : {"smallest", "largest"}) {
    EigenInput<double> input = input_of<double>(
        comm, own,
        "pairs: 3, dense_up_to: 0, filtered_start: false, preconditioner: {type: none}, which: " + which);
    CsrSource source(comm, "A", own.arrays(), partition);
    input.a.matrix.reset();
    input.a.operation = std::make_unique<Hidden>(
        std::make_unique<DistributedMatrix<double>>(context, source.read(partition), partition, partition));
    const EigenAnswer<double> answer = run_eigensolver(context, std::move(input), Proceed{});
    ASSERT_EQ(answer.pairs.eigenvalues.size(), 3U);
    for (int j = 0; j < 3; ++j) {
      const double expected = which == "largest" ? 4.0 - exact(n, j) : exact(n, j);
      EXPECT_NEAR(answer.pairs.eigenvalues[static_cast<std::size_t>(j)], expected, 1e-11) << which;
    }
  }
}

TEST(InMemory, ErrorsOfMpiAreExceptions) {
  const Communicator comm = own_communicator();
  const int value = 1;
  EXPECT_THROW(MPI_Send(&value, 1, MPI_INT, 99, 0, comm.handle()), RunError);
  EXPECT_EQ(comm.sum(std::int64_t{3}), 3);
}

TEST(InMemory, MpiThatRunsIsLeftAlone) {
  start_mpi();
  end_mpi();
  int ended = 1;
  MPI_Finalized(&ended);
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(own_communicator().size(), 1);
  EXPECT_FALSE(mpi_library_version().empty());
}

}  // namespace
}  // namespace block_eigs
