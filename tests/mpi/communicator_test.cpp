#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "spmm/error.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"
#include "spmm/parallel/pieces.hpp"

namespace block_eigs {
namespace {

TEST(CommunicatorTest, SumsMaximaAndGathers) {
  const Communicator comm(MPI_COMM_WORLD);
  const int p = comm.size();
  EXPECT_EQ(comm.sum(std::int64_t{comm.rank() + 1}), std::int64_t{p} * (p + 1) / 2);
  EXPECT_EQ(comm.max(std::int64_t{-comm.rank()}), 0);
  EXPECT_EQ(comm.any(comm.rank() == p - 1), true);
  EXPECT_EQ(comm.any(false), false);
  const auto all = comm.all_gather(std::int64_t{10} * comm.rank());
  for (int r = 0; r < p; ++r) EXPECT_EQ(all[static_cast<std::size_t>(r)], 10 * r);
}

TEST(CommunicatorTest, SumsAreBitEqualOnAllRanks) {
  const Communicator comm(MPI_COMM_WORLD);
  std::vector<double> values(100);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1.0 / (3.0 + comm.rank() + static_cast<double>(i));
  comm.sum(std::span(values));
  for (const double value : values) {
    const auto everywhere = comm.all_gather(value);
    for (const double other : everywhere) EXPECT_EQ(other, value);
  }
}

TEST(CommunicatorTest, PartsAreAddedInRankOrder) {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() < 3) GTEST_SKIP() << "two numbers have one sum";
  // 1 is lost beside 1e16 where it is added to it, and stays where it comes behind.
  const double part = comm.rank() == 0 ? 1e16 : comm.rank() == 1 ? 1.0 : comm.rank() == 2 ? -1e16 : 1.0;
  for (const std::size_t length : {std::size_t{1}, std::size_t{100'001}}) {  // all parts to all, and by shares
    std::vector<double> values(length, part);
    comm.sum(std::span(values));
    for (const double value : values) ASSERT_EQ(value, comm.size() - 3.0);
  }
}

// Short and long, in one piece and in many, added by one rank each or by all.
TEST(CommunicatorTest, SumsInSharedMemoryHaveTheBitsOfMpi) {
  const Communicator comm(MPI_COMM_WORLD);
  const Communicator by_mpi(MPI_COMM_WORLD, false);
  for (const std::size_t length : {1, 7, 1000, 8192, 8193, 30'000, 100'001}) {
    std::vector<double> values(length);
    for (std::size_t i = 0; i < length; ++i)
      values[i] = std::sin(static_cast<double>(i) + 0.1) / (comm.rank() + 1.0 / 3.0);
    std::vector<double> others = values;
    comm.sum(std::span(values));
    by_mpi.sum(std::span(others));
    EXPECT_EQ(values, others) << length;
  }
  EXPECT_EQ(comm.max(0.1 * comm.rank()), by_mpi.max(0.1 * comm.rank()));
  EXPECT_EQ(comm.all_gather(0.1 * comm.rank()), by_mpi.all_gather(0.1 * comm.rank()));
  EXPECT_EQ(comm.sum(std::int64_t{3} - comm.rank()), by_mpi.sum(std::int64_t{3} - comm.rank()));
  EXPECT_EQ(comm.max(std::int64_t{-3} - comm.rank()), by_mpi.max(std::int64_t{-3} - comm.rank()));
  EXPECT_EQ(comm.collectives(), by_mpi.collectives());
  EXPECT_EQ(by_mpi.collectives_in_memory(), 0);
  EXPECT_EQ(comm.collectives_in_memory() > 0, comm.size() > 1) << "the ranks of a test share a machine";
}

// One rank after the other is late, so that the others are as far ahead as they get.
TEST(CommunicatorTest, NobodyOverwritesAPartThatWasNotRead) {
  const Communicator comm(MPI_COMM_WORLD);
  for (int turn = 0; turn < 400; ++turn) {
    if (turn / 4 % comm.size() == comm.rank() && turn % 4 == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(300));
    std::vector<double> values(static_cast<std::size_t>(1 + 37 * turn % 900), turn + comm.rank());
    comm.sum(std::span(values));
    const double expected = comm.size() * (turn + 0.5 * (comm.size() - 1));
    for (const double value : values) ASSERT_EQ(value, expected) << turn;
  }
}

// A rank that waits in shared memory moves messages along: here one that is too long to be sent at once.
TEST(CommunicatorTest, MessagesGoOnWhileARankWaits) {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() == 1) GTEST_SKIP() << "nobody to send to";
  std::vector<double> message(1'000'000, comm.rank());
  MPI_Request request = MPI_REQUEST_NULL;
  if (comm.rank() == 0) MPI_Isend(message.data(), 1'000'000, MPI_DOUBLE, 1, 0, comm.handle(), &request);
  if (comm.rank() == 1) MPI_Recv(message.data(), 1'000'000, MPI_DOUBLE, 0, 0, comm.handle(), MPI_STATUS_IGNORE);
  EXPECT_EQ(comm.sum(std::int64_t{1}), comm.size());
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(message.back(), comm.rank() > 1 ? comm.rank() : 0.0);
}

TEST(CommunicatorTest, AllToAllDeliversRaggedMessages) {
  const Communicator comm(MPI_COMM_WORLD);
  std::vector<std::vector<std::int64_t>> outgoing(static_cast<std::size_t>(comm.size()));
  for (int r = 0; r < comm.size(); ++r)
    outgoing[static_cast<std::size_t>(r)].assign(static_cast<std::size_t>(comm.rank() * r), 100 * comm.rank() + r);
  const auto incoming = comm.all_to_all(outgoing);
  for (int r = 0; r < comm.size(); ++r) {
    const auto& part = incoming[static_cast<std::size_t>(r)];
    ASSERT_EQ(part.size(), static_cast<std::size_t>(comm.rank() * r));
    for (const auto value : part) EXPECT_EQ(value, 100 * r + comm.rank());
  }
}

TEST(CommunicatorTest, AllToAllDeliversIntoMemoryThatIsThere) {
  const Communicator comm(MPI_COMM_WORLD);
  // r + 1 numbers to rank r, so that this one gets rank + 1 from each.
  std::vector<std::int64_t> sent_from = {0};
  std::vector<std::int64_t> put_from = {0};
  std::vector<double> outgoing;
  for (int r = 0; r < comm.size(); ++r) {
    outgoing.insert(outgoing.end(), static_cast<std::size_t>(r) + 1, 100.0 * comm.rank() + r);
    sent_from.push_back(static_cast<std::int64_t>(outgoing.size()));
    put_from.push_back(put_from.back() + comm.rank() + 1);
  }
  std::vector<double> incoming(static_cast<std::size_t>(put_from.back()), -1.0);
  comm.all_to_all(outgoing, sent_from, incoming, put_from);
  for (std::size_t i = 0; i < incoming.size(); ++i) {
    const auto from = static_cast<int>(i) / (comm.rank() + 1);
    EXPECT_EQ(incoming[i], 100.0 * from + comm.rank());
  }
}

TEST(CommunicatorTest, BroadcastsText) {
  const Communicator comm(MPI_COMM_WORLD);
  EXPECT_EQ(comm.broadcast(comm.is_root() ? std::string("pairs: 16\n") : std::string()), "pairs: 16\n");
}

TEST(CommunicatorTest, CollectivelyFailsEverywhereWithTheLowestRanksError) {
  const Communicator comm(MPI_COMM_WORLD);
  const int culprit = comm.size() - 1;
  try {
    comm.collectively([&] {
      if (comm.rank() == culprit) throw InputError("row 7 is odd");
    });
    FAIL() << "did not throw";
  } catch (const RemoteError& error) {
    EXPECT_NE(comm.rank(), culprit);
    EXPECT_EQ(error.rank(), culprit);
    EXPECT_EQ(error.exit_code(), ExitCode::invalid_input);
  } catch (const InputError& error) {
    EXPECT_EQ(comm.rank(), culprit);
    EXPECT_STREQ(error.what(), "row 7 is odd");
  }
  // All fail: rank 0 speaks.
  try {
    comm.collectively([&] { throw RunError("disk full"); });
    FAIL() << "did not throw";
  } catch (const RemoteError& error) {
    EXPECT_EQ(error.rank(), 0);
    EXPECT_EQ(error.exit_code(), ExitCode::run_failed);
  } catch (const RunError&) {
    EXPECT_EQ(comm.rank(), 0);
  }
  EXPECT_NO_THROW(comm.collectively([] {}));
}

TEST(CommunicatorTest, ForeignExceptionsAreCollectiveToo) {
  const Communicator comm(MPI_COMM_WORLD);
  EXPECT_ANY_THROW(comm.collectively([&] {
    if (comm.is_root()) throw std::logic_error("surprise");
  }));
}

TEST(PiecesTest, CoverEveryElementOnceWithinTheLimit) {
  for (const std::size_t count : {0, 1, 4, 5, 9, 10, 11}) {
    std::vector<std::pair<std::size_t, int>> pieces;
    in_pieces(
        count, [&](std::size_t first, int size) { pieces.emplace_back(first, size); }, 5);
    std::size_t covered = 0;
    for (const auto& [first, size] : pieces) {
      EXPECT_EQ(first, covered);
      EXPECT_GT(size, 0);
      EXPECT_LE(size, 5);
      covered += static_cast<std::size_t>(size);
    }
    EXPECT_EQ(covered, count);
  }
}

// As long as a Gram matrix of 66,000 vectors: more elements than int holds.
TEST(PiecesTest, CountsOfMoreThanAnIntHolds) {
  std::size_t covered = 0;
  const std::size_t count = (std::size_t{1} << 32) + 17;
  in_pieces(count, [&](std::size_t first, int size) {
    EXPECT_EQ(first, covered);
    ASSERT_GT(size, 0);
    covered += static_cast<std::size_t>(size);
  });
  EXPECT_EQ(covered, count);
}

/// A duplicate of MPI_COMM_WORLD that returns errors, as mpi4py has it.
class ReturningErrors {
 public:
  ReturningErrors() {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }
  ReturningErrors(const ReturningErrors&) = delete;
  ReturningErrors& operator=(const ReturningErrors&) = delete;
  ~ReturningErrors() { MPI_Comm_free(&comm_); }
  MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

TEST(CommunicatorTest, HasAnErrorHandlerOfItsOwnWhateverTheParentHas) {
  const ReturningErrors parent;
  const Communicator comm(parent.get());
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(comm.handle(), &handler);
  EXPECT_NE(handler, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&handler);
  MPI_Comm_get_errhandler(parent.get(), &handler);
  EXPECT_EQ(handler, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&handler);
}

TEST(PartitionTest, UniformCoversAllRowsEvenly) {
  for (const GlobalIndex rows : {0, 1, 2, 7, 100}) {
    const Partition partition = Partition::uniform(rows, 5);
    EXPECT_EQ(partition.rows(), rows);
    for (int p = 0; p < 5; ++p) EXPECT_LE(std::abs(partition.size(p) - rows / 5.0), 1.0);
    for (GlobalIndex row = 0; row < rows; ++row) {
      const int owner = partition.owner(row);
      EXPECT_LE(partition.begin(owner), row);
      EXPECT_LT(row, partition.end(owner));
    }
  }
}

TEST(PartitionTest, OwnerSkipsEmptyParts) {
  const Partition partition({0, 0, 3, 3, 4, 4});
  EXPECT_EQ(partition.owner(0), 1);
  EXPECT_EQ(partition.owner(2), 1);
  EXPECT_EQ(partition.owner(3), 3);
  EXPECT_THROW(Partition({0, 3, 2}), InputError);
  EXPECT_THROW(Partition({1, 3}), InputError);
}

TEST(PartitionTest, ByNonzerosBalancesTheWork) {
  const Communicator comm(MPI_COMM_WORLD);
  const GlobalIndex rows = 1000;
  const Partition uniform = Partition::uniform(rows, comm.size());
  std::vector<Offset> counts;
  const auto row_count = [](GlobalIndex row) -> Offset { return row < 100 ? 90 : 3; };
  for (GlobalIndex row = uniform.begin(comm.rank()); row < uniform.end(comm.rank()); ++row)
    counts.push_back(row_count(row));
  const Partition balanced = Partition::by_nonzeros(comm, uniform, counts);
  ASSERT_EQ(balanced.rows(), rows);
  ASSERT_EQ(balanced.parts(), comm.size());
  const double total = 100 * 91 + 900 * 4;
  for (int p = 0; p < balanced.parts(); ++p) {
    double work = 0;
    for (GlobalIndex row = balanced.begin(p); row < balanced.end(p); ++row)
      work += static_cast<double>(row_count(row) + 1);
    EXPECT_NEAR(work, total / comm.size(), 2 * 91) << p;
  }
}

TEST(PartitionTest, ByNonzerosWithOneHeavyRowLeavesPartsEmptyNotBroken) {
  const Communicator comm(MPI_COMM_WORLD);
  const Partition uniform = Partition::uniform(6, comm.size());
  std::vector<Offset> counts(static_cast<std::size_t>(uniform.size(comm.rank())), 0);
  if (uniform.owner(2) == comm.rank()) counts[static_cast<std::size_t>(2 - uniform.begin(comm.rank()))] = 1000;
  const Partition balanced = Partition::by_nonzeros(comm, uniform, counts);
  EXPECT_EQ(balanced.rows(), 6);
  GlobalIndex covered = 0;
  for (int p = 0; p < balanced.parts(); ++p) covered += balanced.size(p);
  EXPECT_EQ(covered, 6);
}

}  // namespace
}  // namespace block_eigs
