#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

#include "spmm/error.hpp"
#include "spmm/first_error.hpp"
#include "spmm/host/runtime/threads.hpp"
#include "spmm/matrix/dense_block.hpp"
#include "spmm/matrix/distributed_matrix.hpp"

// Allocations that fail where many threads are at work: an exception that leaves an OpenMP region ends the
// process.
namespace {

std::atomic<std::size_t> refused_bytes{std::numeric_limits<std::size_t>::max()};  ///< so many and more
std::atomic<long> allocations_left{std::numeric_limits<long>::max()};

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (bytes >= refused_bytes || allocations_left.fetch_sub(1) <= 0) throw std::bad_alloc();
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment < sizeof(void*) ? sizeof(void*) : alignment, bytes + 1) != 0) {
    throw std::bad_alloc();
  }
  return memory;
}

}  // namespace

// Not inlined: GCC takes a free() beside a new that is not inlined for a mistake.
void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace block_eigs {
namespace {

/// Lets `work` fail at its first allocation, at its second, and so on, until it gets through.
template <class Work>
int failures_of(const Work& work) {
  for (int allowed = 0; allowed < 1000; ++allowed) {
    bool failed = false;
    allocations_left = allowed;
    try {
      work();
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    allocations_left = std::numeric_limits<long>::max();
    if (!failed) return allowed;
  }
  return 1000;
}

class OutOfMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override { host::set_threads(3); }
  void TearDown() override { host::set_threads(host::default_threads(1)); }
};

template <class T>
void expect_kernels_to_fail_in_order() {
  const std::shared_ptr<Device> device = make_device(Backend::host, 0);
  const auto kernels = make_kernels<T>(device);
  DenseBlock<T> x(device, 500, 40);
  DenseBlock<T> y(device, 500, 30);
  kernels->fill(x.view(), 1.0);
  const SmallMatrix ones = [] {
    SmallMatrix result(40, 30);
    for (double& value : result.values()) value = 1.0;
    return result;
  }();
  SmallMatrix gram;
  EXPECT_GT(failures_of([&] { kernels->gram({x.view()}, {x.view()}, gram); }), 1);
  EXPECT_EQ(gram(39, 7), 500.0);
  EXPECT_GT(failures_of([&] { kernels->update({x.view()}, ones, {y.view()}); }), 1);
  EXPECT_EQ(y.to_host()[499 * 30 + 29], T(40));
}

TEST_F(OutOfMemoryTest, KernelsThrow) {
  expect_kernels_to_fail_in_order<double>();
  expect_kernels_to_fail_in_order<float>();
}

TEST_F(OutOfMemoryTest, AMatrixThatOneRankCannotHoldFailsOnAll) {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() == 1) GTEST_SKIP() << "no ghosts";
  const auto context = make_context<double>(comm, Backend::host);
  host::set_threads(3);
  const GlobalIndex columns = 60'000;
  const Partition partition = Partition::uniform(columns, comm.size());
  CsrRows rows;
  rows.row_begin = partition.begin(comm.rank());
  rows.global_rows = rows.global_columns = columns;
  rows.row_offsets.assign(static_cast<std::size_t>(partition.size(comm.rank())) + 1, columns);
  rows.row_offsets.front() = 0;
  for (GlobalIndex j = 0; j < columns; ++j) rows.columns.push_back(j);
  rows.values.assign(rows.columns.size(), 1.0);
  if (comm.rank() == comm.size() - 1) refused_bytes = 1 << 16;
  EXPECT_THROW(DistributedMatrix<double>(context, std::move(rows), partition, partition), OnAllRanks);
  refused_bytes = std::numeric_limits<std::size_t>::max();
}

TEST(FirstErrorTest, OneOfSeveralIsThrownAgainBehindTheRegion) {
  FirstError none;
  none.run([] {});
  EXPECT_NO_THROW(none.rethrow());
  FirstError failure;
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 9; ++i) {
    failure.run([&] {
      if (i % 2 == 1) throw RunError("part " + std::to_string(i));
    });
  }
  EXPECT_THROW(failure.rethrow(), RunError);
}

}  // namespace
}  // namespace block_eigs
