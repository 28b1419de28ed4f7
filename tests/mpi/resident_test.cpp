// Matrices and vectors of callers that are in the device's memory already: worked with where they are, if they are
// as the solvers want them. The device is the host's, and takes all memory for its own.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "apps/in_memory/arrays.hpp"
#include "apps/in_memory/eigen_run.hpp"
#include "apps/in_memory/linear_run.hpp"
#include "apps/input/block_input.hpp"
#include "apps/input/problem.hpp"
#include "spmm/error.hpp"
#include "tests/support/counting_device.hpp"

namespace block_eigs {
namespace {

class SharingDevice final : public CountingDevice {
 public:
  bool can_borrow(const void* memory) const override { return memory != nullptr; }
};

template <class T>
Context<T> sharing_context(const Communicator& comm) {
  const auto device = std::make_shared<SharingDevice>();
  return {comm, device, make_kernels<T>(device), std::make_shared<Profile>(device),
          make_transport(comm, device, HaloWay::automatic)};
}

/// Own rows of the second difference, 2 and -1, times `factor`; columns in order, or backwards.
struct Rows {
  std::vector<std::int32_t> offsets{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  Partition partition;

  Rows(const Communicator& comm, GlobalIndex n, double factor = 1.0, bool backwards = false)
      : partition(Partition::uniform(n, comm.size())) {
    for (GlobalIndex i = partition.begin(comm.rank()); i < partition.end(comm.rank()); ++i) {
      for (int step = -1; step <= 1; ++step) {
        const GlobalIndex j = i + (backwards ? -step : step);
        if (j < 0 || j >= n) continue;
        columns.push_back(static_cast<std::int32_t>(j));
        values.push_back(factor * (i == j ? 2.0 : -1.0));
      }
      offsets.push_back(static_cast<std::int32_t>(columns.size()));
    }
  }

  std::unique_ptr<CsrSource> source(const Communicator& comm) const {
    const RowArrays rows{partition.rows(),
                         {offsets.data(), offsets.size(), false},
                         {columns.data(), columns.size(), false},
                         {values.data(), values.size(), true},
                         {columns.data(), values.data(), true}};
    return std::make_unique<CsrSource>(comm, "A", rows, partition);
  }
};

template <class T>
const void* values_at_work(const Context<T>& context, const Rows& rows) {
  const Sources sources{rows.source(context.comm), nullptr};
  ReadOptions options;
  options.partition = rows.partition;
  return read_problem(context, sources, options).a->own_columns().view().values;
}

TEST(Resident, EntriesAreNotCopiedWhereTheyAreRight) {
  const Communicator comm(MPI_COMM_WORLD);
  const Context<double> context = sharing_context<double>(comm);
  const bool alone = comm.size() == 1;
  const Rows rows(comm, 300);
  EXPECT_EQ(values_at_work(context, rows) == rows.values.data(), alone);
  const Rows backwards(comm, 300, 1.0, true);
  EXPECT_NE(values_at_work(context, backwards), backwards.values.data());
  const Rows large(comm, 300, 1e100);
  EXPECT_NE(values_at_work(context, large), large.values.data());
  EXPECT_NE(values_at_work(sharing_context<float>(comm), rows), static_cast<const void*>(rows.values.data()));
  EXPECT_NE(values_at_work(make_context<double>(comm, Backend::host), rows), rows.values.data());
}

TEST(Resident, TheMatrixTakesNoMemoryForThem) {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() > 1) GTEST_SKIP() << "one rank's";
  const Context<double> context = sharing_context<double>(comm);
  const auto& device = static_cast<const SharingDevice&>(*context.device);
  const Rows rows(comm, 20000);
  const std::size_t entries = rows.values.size() * (sizeof(double) + sizeof(std::int32_t));
  const DeviceEntries resident{rows.columns.data(), rows.values.data(), true};
  const std::size_t before = device.in_use();
  const DistributedMatrix<double> copied(context, rows.source(comm)->read(rows.partition), rows.partition,
                                         rows.partition);
  const std::size_t between = device.in_use();
  const DistributedMatrix<double> in_place(context, rows.source(comm)->read(rows.partition), rows.partition,
                                           rows.partition, {}, resident);
  EXPECT_GE(between - before, entries);
  EXPECT_LE(device.in_use() - between + entries, between - before);
}

TEST(Resident, VectorsGoWhereTheCallerWantsThem) {
  const Communicator comm(MPI_COMM_WORLD);
  const Context<double> context = sharing_context<double>(comm);
  const Rows rows(comm, 2000);
  std::vector<double> place;
  EigenInput<double> input;
  input.config = parse_config("{matrix: {file: A}, eigensolver: {pairs: 3}}", "a test", {});
  input.partition = rows.partition;
  input.a.matrix = rows.source(comm);
  input.place = [&](LocalIndex own, LocalIndex columns) {
    place.resize(static_cast<std::size_t>(own) * static_cast<std::size_t>(columns));
    return place.data();
  };
  const EigenAnswer<double> answer = run_eigensolver(context, std::move(input), Proceed{});
  EXPECT_TRUE(answer.vectors.empty());
  ASSERT_EQ(answer.columns, 3);
  ASSERT_EQ(place.size(), 3 * (rows.offsets.size() - 1));
  double norm = 0.0;
  for (std::size_t k = 0; k < place.size(); k += 3) norm += place[k] * place[k];
  EXPECT_NEAR(comm.sum(norm), 1.0, 1e-12);
}

TEST(Resident, RightHandSidesAreTakenFromTheDevice) {
  const Communicator comm(MPI_COMM_WORLD);
  const Context<float> context = sharing_context<float>(comm);
  const Partition partition = Partition::uniform(40, comm.size());
  const auto own = static_cast<std::size_t>(partition.size(comm.rank()));
  std::vector<double> values(own * 3, 0.5);
  int fetched = 0;
  BlockArray block{partition.size(comm.rank()), 3, nullptr, values.data(), [&] {
                     ++fetched;
                     return values.data();
                   }};
  BlockSpace<float> space(context, partition);
  ArrayBlockSource source(comm, "F", block);
  EXPECT_EQ(read_block(space, source, 3).to_host(), std::vector<float>(own * 3, 0.5F));
  EXPECT_EQ(fetched, 0);
  // In float its square is infinite, which it is not itself; and what is not finite is named by who reads it.
  values[1] = 1e30;
  EXPECT_EQ(read_block(space, source, 3).to_host()[1], 1e30F);
  EXPECT_EQ(fetched, 1);
  values[1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(read_block(space, source, 3), Error);
  BlockSpace<float> elsewhere(make_context<float>(comm, Backend::host), partition);
  values[1] = 2.0;
  EXPECT_EQ(read_block(elsewhere, source, 3).to_host()[1], 2.0F);
}

}  // namespace
}  // namespace block_eigs
