// Checkpoint files: what is written comes back, on any partition, with the bits that it had; digests do not depend
// on how elements are dealt; locks keep others away. References: the numbers that were written.
#include "io/checkpoint/checkpoint_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "io/checkpoint/file_lock.hpp"
#include "spmm/error.hpp"

namespace block_eigs {
namespace {

constexpr GlobalIndex rows = 37;
constexpr LocalIndex columns = 3;

double entry(GlobalIndex row, LocalIndex column) { return std::sin(static_cast<double>(row * columns + column)); }

/// All rows but `few` on the last rank, so that some ranks have few or none.
Partition uneven(const Communicator& comm, GlobalIndex few) {
  std::vector<GlobalIndex> offsets(static_cast<std::size_t>(comm.size()) + 1, 0);
  offsets.back() = rows;
  if (comm.size() > 1) offsets[static_cast<std::size_t>(comm.size()) - 1] = few;
  return Partition(std::move(offsets));
}

template <class T>
std::vector<T> own_entries(const Communicator& comm, const Partition& partition) {
  std::vector<T> values;
  for (GlobalIndex row = partition.begin(comm.rank()); row < partition.end(comm.rank()); ++row) {
    for (LocalIndex j = 0; j < columns; ++j) values.push_back(static_cast<T>(entry(row, j)));
  }
  return values;
}

class CheckpointFile : public testing::Test {
 protected:
  CheckpointFile() : comm(MPI_COMM_WORLD) {
    const std::string name = "block_eigs_checkpoint_" + std::to_string(::getpid()) + ".h5";
    path = comm.broadcast((std::filesystem::temp_directory_path() / name).string());
  }
  ~CheckpointFile() override {
    comm.barrier();
    if (comm.is_root()) std::remove(path.c_str());
  }

  void write(const Partition& partition) {
    CheckpointWriter writer(comm, path);
    writer.text("program", "test");
    writer.text("lines", "one: 1\ntwo: 2\n");
    writer.numbers("some", numbers);
    writer.numbers("none", {});
    writer.vectors("wide", partition, columns, own_entries<double>(comm, partition));
    writer.vectors("narrow", partition, columns, own_entries<float>(comm, partition));
    writer.commit();
  }

  /// Of `path`, once all ranks are here.
  int partial_files() const {
    comm.barrier();
    const std::filesystem::path file(path);
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(file.parent_path()))
      count += entry.path().filename().string().starts_with(file.filename().string() + ".partial-") ? 1 : 0;
    comm.barrier();
    return count;
  }

  Communicator comm;
  std::string path;
  std::vector<double> numbers{1.0, -0.0, 1e-310, std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN()};
};

TEST_F(CheckpointFile, ComesBackOnAnyPartition) {
  write(uneven(comm, 5));
  const CheckpointReader reader(comm, path);
  EXPECT_EQ(reader.text("program"), "test");
  EXPECT_EQ(reader.text("lines"), "one: 1\ntwo: 2\n");
  EXPECT_EQ(reader.text("nothing"), "");
  ASSERT_EQ(reader.numbers().size(), 2U);
  const std::vector<double>& some = reader.numbers().at("some");
  ASSERT_EQ(some.size(), numbers.size());
  for (std::size_t i = 0; i + 1 < some.size(); ++i) EXPECT_EQ(some[i], numbers[i]);
  EXPECT_TRUE(std::signbit(some[1]));
  EXPECT_TRUE(std::isnan(some.back()));
  EXPECT_TRUE(reader.numbers().at("none").empty());
  EXPECT_EQ(reader.columns("wide"), columns);
  EXPECT_EQ(reader.rows("wide"), rows);
  EXPECT_EQ(reader.columns("nothing"), 0);
  for (const Partition& partition : {Partition::uniform(rows, comm.size()), uneven(comm, 30)}) {
    EXPECT_EQ(reader.vectors("wide", partition), own_entries<double>(comm, partition));
    const std::vector<float> narrow = own_entries<float>(comm, partition);
    EXPECT_EQ(reader.vectors("narrow", partition), std::vector<double>(narrow.begin(), narrow.end()));
  }
}

TEST_F(CheckpointFile, AnOlderOneStandsUntilCommit) {
  write(Partition::uniform(rows, comm.size()));
  {
    CheckpointWriter writer(comm, path);
    writer.text("program", "other");
  }
  EXPECT_EQ(CheckpointReader(comm, path).text("program"), "test");
}

/// Own rows of `partition` in pieces, each of which waits until `go` is set; the third one fails where `fails`.
RowPieces<double> waiting_pieces(const Communicator& comm, const Partition& partition,
                                 std::shared_ptr<std::atomic<bool>> go, bool fails) {
  const auto values = std::make_shared<std::vector<double>>(own_entries<double>(comm, partition));
  return [=](std::int64_t first, std::int64_t count) {
    while (!*go) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (fails) throw RunError("these rows are gone");
    return std::span<const double>(*values).subspan(static_cast<std::size_t>(first * columns),
                                                    static_cast<std::size_t>(count * columns));
  };
}

TEST_F(CheckpointFile, IsWrittenInTheBackground) {
  const Partition partition = uneven(comm, 5);
  write(partition);
  const auto go = std::make_shared<std::atomic<bool>>(false);
  CheckpointWriter writer(comm, path);
  writer.text("program", "other");
  writer.vectors<double>("rows", partition, columns, waiting_pieces(comm, partition, go, false));
  writer.start();
  // Ranks without rows have nothing to wait for.
  EXPECT_TRUE(partition.size(comm.rank()) == 0 || writer.busy());
  EXPECT_EQ(CheckpointReader(comm, path).text("program"), "test");
  *go = true;
  while (writer.busy()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(CheckpointReader(comm, path).text("program"), "test");
  comm.barrier();
  writer.commit();
  const CheckpointReader reader(comm, path);
  EXPECT_EQ(reader.text("program"), "other");
  EXPECT_EQ(reader.vectors("rows", partition), own_entries<double>(comm, partition));
}

TEST_F(CheckpointFile, WhatFailsInTheBackgroundLeavesTheOlderOne) {
  const Partition partition = Partition::uniform(rows, comm.size());
  write(partition);
  const auto go = std::make_shared<std::atomic<bool>>(true);
  {
    CheckpointWriter writer(comm, path);
    writer.text("program", "other");
    const bool last = comm.rank() == comm.size() - 1;
    writer.vectors<double>("rows", partition, columns, waiting_pieces(comm, partition, go, last));
    writer.start();
    try {
      writer.commit();
      FAIL() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_NE(dynamic_cast<const OnAllRanks*>(&error), nullptr);
      EXPECT_TRUE(!last || std::string(error.what()) == "these rows are gone") << error.what();
    }
  }
  EXPECT_EQ(CheckpointReader(comm, path).text("program"), "test");
  EXPECT_EQ(partial_files(), 0);
}

TEST_F(CheckpointFile, WhatIsGivenUpInTheBackgroundLeavesNothing) {
  const Partition partition = Partition::uniform(rows, comm.size());
  write(partition);
  {
    CheckpointWriter writer(comm, path);
    writer.text("program", "other");
    writer.vectors("rows", partition, columns, own_entries<float>(comm, partition));
    writer.start();
  }
  EXPECT_EQ(CheckpointReader(comm, path).text("program"), "test");
  EXPECT_EQ(partial_files(), 0);
}

TEST_F(CheckpointFile, DigestsDoNotDependOnThreads) {
  std::vector<double> values(100000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i));
  Digest one, all;
  one.add(7, std::span<const double>(values));
  all.add_by_threads(7, std::span<const double>(values));
  EXPECT_EQ(one.value(), all.value());
  CsrRows matrix;
  Digest entries;
  for (GlobalIndex i = 0; i < 1000; ++i) {
    for (const GlobalIndex j : {i, 2 * i + 1}) {
      matrix.columns.push_back(j);
      matrix.values.push_back(std::cos(static_cast<double>(i + j)));
      entries.add(static_cast<std::uint64_t>(i + 50), static_cast<std::uint64_t>(j), matrix.values.back());
    }
    matrix.row_offsets.push_back(static_cast<Offset>(matrix.columns.size()));
  }
  matrix.row_begin = 50;
  Digest by_threads;
  by_threads.add_by_threads(matrix);
  EXPECT_EQ(by_threads.value(), entries.value());
}

TEST_F(CheckpointFile, DigestsDoNotDependOnPartitions) {
  std::optional<std::uint64_t> first;
  for (const GlobalIndex few : {GlobalIndex{0}, GlobalIndex{11}, rows}) {
    const Partition partition = uneven(comm, few);
    Digest digest;
    const std::vector<double> values = own_entries<double>(comm, partition);
    digest.add(static_cast<std::uint64_t>(partition.begin(comm.rank()) * columns),
               std::span<const double>(values));
    const std::uint64_t all = digest.over(comm);
    EXPECT_EQ(all, first.value_or(all));
    first = all;
  }
}

TEST_F(CheckpointFile, DigestsTellPlacesAndBitsApart) {
  const auto of = [](std::uint64_t place, double value) {
    Digest digest;
    digest.add(place, value);
    return digest.value();
  };
  EXPECT_NE(of(1, 2.0), of(2, 2.0));
  EXPECT_NE(of(1, 2.0), of(1, std::nextafter(2.0, 3.0)));
  EXPECT_NE(of(1, 0.0), of(1, -0.0));
  Digest swapped, straight;
  straight.add(0, 1, 5.0), straight.add(1, 0, 6.0);
  swapped.add(1, 0, 5.0), swapped.add(0, 1, 6.0);
  EXPECT_NE(straight.value(), swapped.value());
}

TEST_F(CheckpointFile, OneLockAtATime) {
  std::optional<FileLock> lock;
  lock.emplace(comm, "checkpoint", path);
  // The system tells open files apart, not processes.
  EXPECT_THROW(FileLock(comm, "checkpoint", path), Error);
  lock.reset();
  EXPECT_NO_THROW(FileLock(comm, "checkpoint", path));
  comm.barrier();
  EXPECT_FALSE(std::filesystem::exists(path + ".lock"));
}

}  // namespace
}  // namespace block_eigs
