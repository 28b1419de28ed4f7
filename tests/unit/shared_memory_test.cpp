#include "spmm/device/shared_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <utility>

// Memory that processes share, between two holders in one process: the way to it is the same.
namespace block_eigs {
namespace {

constexpr std::size_t bytes = 10'000;

TEST(SharedMemory, IsOneForAllWhoHaveOpenedIt) {
  SharedMemory made = SharedMemory::make(bytes);
  ASSERT_NE(made.data(), nullptr);
  EXPECT_TRUE(std::all_of(made.data(), made.data() + bytes, [](std::byte each) { return each == std::byte{0}; }));
  SharedMemory opened = SharedMemory::open(made.place());
  ASSERT_NE(opened.data(), nullptr);
  ASSERT_NE(opened.data(), made.data());
  made.data()[bytes - 1] = std::byte{7};
  opened.data()[0] = std::byte{9};
  EXPECT_EQ(opened.data()[bytes - 1], std::byte{7});
  EXPECT_EQ(made.data()[0], std::byte{9});
  // It stays when its maker goes.
  made = SharedMemory();
  EXPECT_EQ(opened.data()[bytes - 1], std::byte{7});
}

TEST(SharedMemory, IsNotOpenedInPlaceOfAnother) {
  const SharedMemory made = SharedMemory::make(bytes);
  const SharedMemory other = SharedMemory::make(bytes);
  ASSERT_NE(made.data(), nullptr);
  SharedPlace place = made.place();
  place.file = other.place().file;  // as a process of another container may have it
  EXPECT_EQ(SharedMemory::open(place).data(), nullptr);
  place = made.place();
  place.bytes += 8;
  EXPECT_EQ(SharedMemory::open(place).data(), nullptr);
  place = made.place();
  place.file = 0;
  EXPECT_EQ(SharedMemory::open(place).data(), nullptr);
  place.process = 0;
  EXPECT_EQ(SharedMemory::open(place).data(), nullptr);
}

TEST(SharedMemory, IsOutOfReachOnceItsFileIsClosed) {
  SharedMemory made = SharedMemory::make(bytes);
  ASSERT_NE(made.data(), nullptr);
  const SharedPlace place = made.place();
  const SharedMemory opened = SharedMemory::open(place);
  made.close_file();
  EXPECT_EQ(SharedMemory::open(place).data(), nullptr);
  EXPECT_EQ(SharedMemory::open(made.place()).data(), nullptr);
  made.data()[5] = std::byte{3};
  EXPECT_EQ(opened.data()[5], std::byte{3});
}

TEST(SharedMemory, IsNotThereWhereThereIsNone) {
  EXPECT_EQ(SharedMemory().data(), nullptr);
  EXPECT_EQ(SharedMemory::open(SharedMemory().place()).data(), nullptr);
  EXPECT_EQ(SharedMemory::make(0).data(), nullptr);
}

TEST(SharedMemory, MovesWithItsFile) {
  SharedMemory made = SharedMemory::make(bytes);
  std::byte* const data = made.data();
  const SharedPlace place = made.place();
  SharedMemory moved = std::move(made);
  EXPECT_EQ(moved.data(), data);
  EXPECT_NE(SharedMemory::open(place).data(), nullptr);
  moved = SharedMemory::make(bytes);
  EXPECT_EQ(SharedMemory::open(place).data(), nullptr);
  EXPECT_NE(SharedMemory::open(moved.place()).data(), nullptr);
}

}  // namespace
}  // namespace block_eigs
