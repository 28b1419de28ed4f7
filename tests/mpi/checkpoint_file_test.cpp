// Checkpoint files: what is written comes back, on any partition, with the bits that it had; digests do not depend
// on how elements are dealt; locks keep others away. References: the numbers that were written.
#include "io/checkpoint/checkpoint_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
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
