// Memory that runs out on one rank alone while a file is read or written: all ranks learn of it, none waits for
// ever. Every allocation of 8 KiB or more fails once, on every rank in turn.
#include <gtest/gtest.h>
#include <unistd.h>
#include <zip.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>

#include "io/formats/matrix_file.hpp"
#include "io/formats/matrix_market.hpp"
#include "io/formats/write_matrix.hpp"
#include "spmm/error.hpp"

namespace {

/// Allocations of this many bytes or more are those that fail.
constexpr std::size_t large = 8192;

/// How many of those still succeed; negative where none is to fail.
long successes_left = -1;
bool has_failed = false;

void* allocate(std::size_t size) {
  if (successes_left >= 0 && size >= large && successes_left-- == 0) {
    has_failed = true;
    throw std::bad_alloc();
  }
  if (void* const place = std::malloc(size)) return place;
  throw std::bad_alloc();
}

}  // namespace

// Not inlined: GCC takes a free() beside a new that is not inlined for a mistake.
void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
[[gnu::noinline]] void operator delete(void* place) noexcept { std::free(place); }
[[gnu::noinline]] void operator delete[](void* place) noexcept { std::free(place); }
[[gnu::noinline]] void operator delete(void* place, std::size_t) noexcept { std::free(place); }
[[gnu::noinline]] void operator delete[](void* place, std::size_t) noexcept { std::free(place); }

namespace block_eigs {
namespace {

constexpr GlobalIndex n = 4000;

/// Rows of the tridiagonal matrix 2, -1.
CsrRows tridiagonal(const Partition& partition, int rank) {
  CsrRows rows;
  rows.row_begin = partition.begin(rank);
  rows.global_rows = rows.global_columns = n;
  for (GlobalIndex i = partition.begin(rank); i < partition.end(rank); ++i) {
    for (GlobalIndex j = std::max<GlobalIndex>(i - 1, 0); j <= std::min(i + 1, n - 1); ++j) {
      rows.columns.push_back(j);
      rows.values.push_back(i == j ? 2.0 : -1.0);
    }
    rows.row_offsets.push_back(static_cast<Offset>(rows.columns.size()));
  }
  return rows;
}

std::string matrix_market_text(const CsrRows& rows) {
  std::string text = "%%MatrixMarket matrix coordinate real general\n" + std::to_string(n) + " " +
                     std::to_string(n) + " " + std::to_string(rows.nonzeros()) + "\n";
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows.rows()); ++i) {
    for (auto k = static_cast<std::size_t>(rows.row_offsets[i]);
         k < static_cast<std::size_t>(rows.row_offsets[i + 1]); ++k) {
      text += std::to_string(i + 1) + " " + std::to_string(rows.columns[k] + 1) + " " +
              std::to_string(rows.values[k]) + "\n";
    }
  }
  return text;
}

/// An array of .npz, little-endian.
std::string npy(const std::string& type, const std::string& shape, const std::string& bytes) {
  std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.resize(118, ' ');
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + bytes;
}
template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

void write_npz(const std::string& path, const CsrRows& rows, bool coordinates) {
  int code = 0;
  zip_t* const archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  ASSERT_NE(archive, nullptr);
  const std::string count = std::to_string(rows.nonzeros()) + ",";
  std::vector<std::pair<std::string, std::string>> arrays{
      {"format", npy("|S3", "", coordinates ? "coo" : "csr")},
      {"shape", npy("<i8", "2,", bytes_of(std::vector<std::int64_t>{n, n}))},
      {"data", npy("<f8", count, bytes_of(rows.values))}};
  if (coordinates) {
    std::vector<GlobalIndex> row_numbers;
    for (std::size_t i = 0; i < static_cast<std::size_t>(rows.rows()); ++i) {
      row_numbers.resize(static_cast<std::size_t>(rows.row_offsets[i + 1]), static_cast<GlobalIndex>(i));
    }
    arrays.emplace_back("row", npy("<i8", count, bytes_of(row_numbers)));
    arrays.emplace_back("col", npy("<i8", count, bytes_of(rows.columns)));
  } else {
    arrays.emplace_back("indices", npy("<i8", count, bytes_of(rows.columns)));
    arrays.emplace_back("indptr", npy("<i8", std::to_string(n + 1) + ",", bytes_of(rows.row_offsets)));
  }
  for (const auto& [name, bytes] : arrays) {
    zip_source_t* const source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
    ASSERT_GE(zip_file_add(archive, (name + ".npy").c_str(), source, 0), 0);
  }
  ASSERT_EQ(zip_close(archive), 0);
}

/// PETSc's binary format: big-endian.
template <class T>
void append_swapped(std::string& bytes, T value) {
  const char* const first = reinterpret_cast<const char*>(&value);
  for (std::size_t i = sizeof(T); i-- > 0;) bytes += first[i];
}
std::string petsc_binary(const CsrRows& rows) {
  std::string bytes;
  for (const std::int64_t number : {std::int64_t{1211216}, n, n, rows.nonzeros()}) {
    append_swapped(bytes, static_cast<std::int32_t>(number));
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    append_swapped(bytes, static_cast<std::int32_t>(rows.row_offsets[i + 1] - rows.row_offsets[i]));
  }
  for (const GlobalIndex column : rows.columns) append_swapped(bytes, static_cast<std::int32_t>(column));
  for (const double value : rows.values) append_swapped(bytes, value);
  return bytes;
}

class IoMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = comm_.broadcast(
        (std::filesystem::temp_directory_path() / ("block_eigs_memory_" + std::to_string(::getpid()))).string());
    if (comm_.is_root()) std::filesystem::create_directories(folder_);
    comm_.barrier();
  }
  void TearDown() override {
    comm_.barrier();
    if (comm_.is_root()) std::filesystem::remove_all(folder_);
  }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  CsrRows whole() const { return tridiagonal(Partition::uniform(n, 1), 0); }
  void write(const std::string& name, const std::string& bytes) const {
    if (comm_.is_root()) std::ofstream(path(name), std::ios::binary) << bytes;
    comm_.barrier();
  }

  /// Runs `step`, which is collective, once for every allocation of 8 KiB or more that it makes on a rank, and
  /// lets that one fail.
  template <class Step>
  void expect_survived(const Step& step) const {
    for (int rank = 0; rank < comm_.size(); ++rank) {
      bool failed = true;
      int times = 0;
      for (; failed; ++times) {
        ASSERT_LT(times, 1000);
        has_failed = false;
        bool known = false;
        bool unknown = false;
        successes_left = comm_.rank() == rank ? times : -1;
        try {
          step();
        } catch (const OnAllRanks&) {
          known = true;
        } catch (...) {
          unknown = true;
        }
        successes_left = -1;
        failed = comm_.any(has_failed);
        EXPECT_EQ(known, failed) << "allocation " << times << " of rank " << rank;
        EXPECT_FALSE(unknown) << "allocation " << times << " of rank " << rank;
      }
      EXPECT_GT(times, 1) << "nothing was allocated";
    }
  }
  void expect_read_survived(const std::string& name) const {
    expect_survived([&] {
      const auto source = open_matrix_file(comm_, path(name));
      const CsrRows rows = source->read(Partition::uniform(n, comm_.size()));
      EXPECT_EQ(rows.rows(), Partition::uniform(n, comm_.size()).size(comm_.rank()));
    });
  }

  const Communicator comm_{MPI_COMM_WORLD};
  std::string folder_;
};

TEST_F(IoMemory, RunsOutInMatrixMarketText) {
  write("a.mtx", matrix_market_text(whole()));
  expect_read_survived("a.mtx");
}

TEST_F(IoMemory, RunsOutInMatrixMarketTextThatRankZeroDecompresses) {
  if (comm_.is_root()) {
    const std::string text = matrix_market_text(whole());
    const gzFile file = gzopen(path("a.mtx.gz").c_str(), "wb");
    ASSERT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
    gzclose(file);
  }
  comm_.barrier();
  expect_read_survived("a.mtx.gz");
}

TEST_F(IoMemory, RunsOutInAnArrayOfVectors) {
  std::string text = "%%MatrixMarket matrix array real general\n" + std::to_string(n) + " 2\n";
  for (GlobalIndex k = 0; k < 2 * n; ++k) text += std::to_string(k) + ".5\n";
  write("block.mtx", text);
  expect_survived([&] {
    const auto source = open_matrix_market_array(comm_, path("block.mtx"));
    const Partition partition = Partition::uniform(n, comm_.size());
    EXPECT_EQ(std::ssize(source->read(partition, 0, 2)), 2 * partition.size(comm_.rank()));
  });
}

TEST_F(IoMemory, RunsOutInNpzByRows) {
  if (comm_.is_root()) write_npz(path("a.npz"), whole(), false);
  comm_.barrier();
  expect_read_survived("a.npz");
}

TEST_F(IoMemory, RunsOutInNpzByCoordinates) {
  if (comm_.is_root()) write_npz(path("coo.npz"), whole(), true);
  comm_.barrier();
  expect_read_survived("coo.npz");
}

TEST_F(IoMemory, RunsOutInPetscBinary) {
  write("a.petsc", petsc_binary(whole()));
  expect_read_survived("a.petsc");
}

TEST_F(IoMemory, RunsOutInHdf5) {
  write_matrix(comm_, path("a.h5"), "/A", tridiagonal(Partition::uniform(n, comm_.size()), comm_.rank()));
  expect_read_survived("a.h5");
}

TEST_F(IoMemory, RunsOutWhileWriting) {
  const CsrRows rows = tridiagonal(Partition::uniform(n, comm_.size()), comm_.rank());
  expect_survived([&] { write_matrix(comm_, path("written.h5"), "/A", rows); });
}

}  // namespace
}  // namespace block_eigs
