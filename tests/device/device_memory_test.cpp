#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>

#include "spmm/error.hpp"
#include "tests/device/device_test.hpp"

namespace block_eigs::test {
namespace {

template <class Param>
class DeviceMemoryTest : public DeviceTest<Param> {};

using OneTypeEach = ::testing::Types<OnBackend<double, Backend::host>, OnBackend<double, Backend::cuda>>;
TYPED_TEST_SUITE(DeviceMemoryTest, OneTypeEach, BackendName);

TYPED_TEST(DeviceMemoryTest, AlignsToCacheLines) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{63}, std::size_t{4097}, std::size_t{5'000'000}}) {
    void* memory = this->device_->allocate(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0U);
    this->device_->release(memory);
  }
}

TYPED_TEST(DeviceMemoryTest, CopiesThereAndBack) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{1000}, std::size_t{3'000'001}}) {
    std::vector<double> sent(size);
    std::iota(sent.begin(), sent.end(), 0.5);
    Buffer<double> first(this->device_, size);
    Buffer<double> second(this->device_, size);
    first.upload(sent.data());
    this->device_->copy_within(second.data(), first.data(), size * sizeof(double), Queue::compute);
    std::vector<double> received(size, -1.0);
    second.download(received.data());
    EXPECT_EQ(received, sent);
  }
}

// Far more than travels at once, no multiple of it, and not where a page begins.
TYPED_TEST(DeviceMemoryTest, CopiesPageableMemoryOfAnySize) {
  for (const std::size_t count : {(std::size_t{5} << 20) + 3, std::size_t{1} << 21, (std::size_t{1} << 20) + 1}) {
    std::vector<double> there(count + 1);
    std::vector<double> back(count + 1, -1.0);
    std::iota(there.begin(), there.end(), 0.0);
    Buffer<double> buffer(this->device_, count);
    Buffer<double> second(this->device_, count);
    for (const Queue queue : {Queue::compute, Queue::transfer}) {
      this->device_->copy_to_device(buffer.data(), there.data() + 1, count * sizeof(double), queue);
      this->device_->copy_within(second.data(), buffer.data(), count * sizeof(double), queue);
      this->device_->copy_to_host(back.data() + 1, second.data(), count * sizeof(double), queue);
      this->device_->synchronize(queue);
      EXPECT_EQ(back.front(), -1.0);
      ASSERT_TRUE(std::equal(there.begin() + 1, there.end(), back.begin() + 1)) << count;
      std::fill(back.begin(), back.end(), -1.0);
    }
  }
}

// In several pieces, in one, and in less than a thread's part.
TYPED_TEST(DeviceMemoryTest, MakesBytesOnTheirWay) {
  for (const std::size_t count :
       {(std::size_t{3} << 20) + 5, std::size_t{1} << 20, std::size_t{7}, std::size_t{0}}) {
    Buffer<std::int32_t> buffer(this->device_, count);
    const auto squares = [](char* to, std::size_t begin, std::size_t bytes) {
      for (std::size_t at = 0; at < bytes; at += sizeof(std::int32_t)) {
        const auto k = static_cast<std::int32_t>((begin + at) / sizeof(std::int32_t));
        const std::int32_t value = k % 1000 * (k % 1000) - k;
        std::memcpy(to + at, &value, sizeof(value));
      }
    };
    this->device_->make_on_device(buffer.data(), squares, count * sizeof(std::int32_t), Queue::compute);
    std::vector<std::int32_t> there(count, -1);
    buffer.download(there.data());
    for (std::size_t k = 0; k < count; ++k) {
      const auto i = static_cast<std::int32_t>(k);
      ASSERT_EQ(there[k], i % 1000 * (i % 1000) - i) << k;
    }
  }
}

TYPED_TEST(DeviceMemoryTest, QueuesWaitForEachOther) {
  constexpr std::size_t size = 1'000'000;
  StagingBuffer<double> staging(this->device_, size);
  Buffer<double> buffer(this->device_, size);
  std::fill_n(staging.data(), size, 3.25);
  const auto sent = this->device_->make_event();
  this->device_->copy_to_device(buffer.data(), staging.data(), size * sizeof(double), Queue::transfer);
  this->device_->record(*sent, Queue::transfer);
  this->device_->wait(Queue::compute, *sent);
  std::vector<double> received(size);
  buffer.download(received.data());
  EXPECT_EQ(received, std::vector<double>(size, 3.25));
}

TYPED_TEST(DeviceMemoryTest, MeasuresTimeBetweenEvents) {
  const auto begin = this->device_->make_event();
  const auto end = this->device_->make_event();
  this->device_->record(*begin, Queue::compute);
  Buffer<double> buffer(this->device_, 4'000'000);
  BlockView<double> view{buffer.data(), 1'000'000, 4, 4};
  this->kernels_->fill(view, 1.0);
  this->device_->record(*end, Queue::compute);
  const double seconds = this->device_->seconds_between(*begin, *end);
  EXPECT_GT(seconds, 0.0);
  EXPECT_LT(seconds, 30.0);
}

TYPED_TEST(DeviceMemoryTest, SaysHowMuchWasAskedForAndIsFree) {
  const std::size_t bytes = std::size_t{1} << 55;
  try {
    this->device_->release(this->device_->allocate(bytes));
    FAIL() << "32 PiB were allocated";
  } catch (const RunError& error) {
    EXPECT_NE(std::string(error.what()).find(std::to_string(bytes)), std::string::npos) << error.what();
  }
  const MemoryInfo memory = this->device_->memory();
  EXPECT_GT(memory.free, 0U);
  EXPECT_LE(memory.free, memory.total);
  EXPECT_FALSE(this->device_->name().empty());
}

TYPED_TEST(DeviceMemoryTest, CountsWhatWasReleasedAsFree) {
  if (this->device_->host_addressable()) return;  // there others take and release memory meanwhile
  constexpr std::size_t bytes = std::size_t{256} << 20;
  const std::size_t before = this->device_->memory().free;
  void* memory = this->device_->allocate(bytes);
  EXPECT_LE(this->device_->memory().free, before - bytes + bytes / 4);
  this->device_->release(memory);
  this->device_->synchronize(Queue::compute);
  EXPECT_GE(this->device_->memory().free, before - bytes / 4);
}

TYPED_TEST(DeviceMemoryTest, RemembersTheMostThatWasInUse) {
  if (this->device_->host_addressable()) return;  // there the system does
  constexpr std::size_t bytes = std::size_t{1} << 30;
  this->device_->release(this->device_->allocate(bytes));
  this->device_->synchronize(Queue::compute);
  const MemoryInfo memory = this->device_->memory();
  EXPECT_GE(memory.free, memory.least_free + bytes);
}

TYPED_TEST(DeviceMemoryTest, KnowsItsBackend) {
  EXPECT_EQ(this->device_->backend(), TypeParam::backend);
  EXPECT_EQ(this->device_->host_addressable(), TypeParam::backend == Backend::host);
}

}  // namespace
}  // namespace block_eigs::test
