// Whether iterations begin in float where nobody said so.
#include "apps/journey/inner_precision.hpp"
#include "spmm/error.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <string>
#include <utility>

namespace block_eigs {
namespace {

/// Holds numbers, and no vectors.
class SavedInMemory final : public Checkpoint {
 public:
  explicit SavedInMemory(SavedNumbers numbers) : numbers_(std::move(numbers)) {}

  bool due() override { return false; }
  void write(const SavedState&) override {}
  const SavedNumbers* saved() const override { return &numbers_; }
  LocalIndex columns(const std::string&) const override { return 0; }
  void read(const std::string&, DenseBlock<float>&) override {}
  void read(const std::string&, DenseBlock<double>&) override {}
  void taken() override {}

 private:
  SavedNumbers numbers_;
};

class InnerPrecision : public testing::Test {
 protected:
  Precision of_eigensolver(const std::string& options, const Checkpoint* checkpoint = nullptr) {
    RunConfig config = parsed("eigensolver: {" + options + "}");
    begin_in_float_where_it_pays(problem(config), config.eigensolver, checkpoint);
    return config.eigensolver.inner_precision;
  }

  Precision of_linear_solver(const std::string& options, GlobalIndex sides) {
    RunConfig config = parsed("linear_solver: {" + options + "}");
    begin_in_float_where_it_pays(problem(config), sides, config.linear_solver);
    return config.linear_solver.inner_precision;
  }

  std::string size_ = "[600, 500]";

 private:
  RunConfig parsed(const std::string& sections) const {
    return parse_config("matrix: {generate: laplacian2d, size: " + size_ + "}\n" + sections + "\n", "test", {});
  }

  Problem<double> problem(const RunConfig& config) const {
    const Context<double> context = make_context<double>(Communicator(MPI_COMM_WORLD), Backend::host);
    return read_problem(context, open_sources(context.comm, config), ReadOptions{});
  }
};

constexpr const char* jacobi = "preconditioner: {type: jacobi}";

TEST_F(InnerPrecision, IsFloatForManyNumbersBesideWhatCostsLittle) {
  const std::string pairs = "pairs: 5, block_size: 8, ";
  EXPECT_EQ(of_eigensolver(pairs + jacobi), Precision::float32);
  EXPECT_EQ(of_eigensolver(pairs + "inner_precision: double, " + jacobi), Precision::float64);
  EXPECT_EQ(of_eigensolver(std::string("pairs: 9, block_size: 8, ") + jacobi), Precision::float64);
  EXPECT_EQ(of_linear_solver(jacobi, 16), Precision::float32);
  EXPECT_EQ(of_linear_solver(jacobi, 4), Precision::float64);
  size_ = "[300, 200]";
  EXPECT_EQ(of_eigensolver(pairs + jacobi), Precision::float64);
  EXPECT_EQ(of_linear_solver(jacobi, 16), Precision::float64);
}

// Whatever this machine would do by itself: nobody else can make use of it.
TEST_F(InnerPrecision, IsThatOfTheStateToGoOnFrom) {
  SavedNumbers numbers;
  numbers["in_float"] = {1.0};
  const SavedInMemory in_float(numbers);
  numbers["in_float"] = {0.0};
  const SavedInMemory in_double(numbers);
  const SavedInMemory finished({});
  size_ = "[30, 20]";
  const std::string double_by_name = fmt::format("inner_precision: double, {}", jacobi);
  EXPECT_EQ(of_eigensolver(jacobi, &in_float), Precision::float32);
  EXPECT_THROW(of_eigensolver(double_by_name, &in_float), InputError);
  EXPECT_EQ(of_eigensolver(double_by_name, &in_double), Precision::float64);
  EXPECT_EQ(of_eigensolver(jacobi, &in_double), Precision::float64);
  EXPECT_EQ(of_eigensolver(jacobi, &finished), Precision::float64);
}

}  // namespace
}  // namespace block_eigs
