#include "spmm/matrix/dense_block.hpp"
#include "tests/device/tall_block_test.hpp"

namespace block_eigs::test {
namespace {

template <class Param>
class GramTest : public DeviceTest<Param> {
 protected:
  using Scalar = typename Param::Scalar;

  void check(LocalIndex rows, const std::vector<LocalIndex>& left_cols, const std::vector<LocalIndex>& right_cols,
             LocalIndex padding = 0) {
    SCOPED_TRACE(::testing::Message() << rows << " rows, left " << ::testing::PrintToString(left_cols)
                                      << ", right " << ::testing::PrintToString(right_cols) << ", padding "
                                      << padding);
    BlockSet<Scalar> left(this->device_, this->random_, rows, left_cols, padding);
    BlockSet<Scalar> right(this->device_, this->random_, rows, right_cols, 2 * padding);
    this->kernels_->gram(left.inputs(), right.inputs(), result_);
    compare(WideBlock(left.here()), WideBlock(right.here()));
  }

  /// Every element, or every `step`-th of each column.
  void compare(const WideBlock& left, const WideBlock& right, LocalIndex step = 1) {
    ASSERT_EQ(result_.rows(), left.cols());
    ASSERT_EQ(result_.cols(), right.cols());
    for (LocalIndex j = 0; j < result_.cols(); ++j) {
      for (LocalIndex k = 0; k < result_.rows(); k += step) {
        expect_close<Scalar>(result_(k, j), gram_element(left, right, k, j), sum_factor<Scalar>, k, j);
      }
    }
  }

  SmallMatrix result_;
};

TYPED_TEST_SUITE(GramTest, EveryBackend, BackendName);

TYPED_TEST(GramTest, EveryWidth) {
  for (LocalIndex cols = 1; cols <= 100; cols += cols < 34 ? 1 : 11) {
    this->check(173, {cols}, {cols}, cols % 3);
    this->check(70, {cols, 3, cols}, {cols}, cols % 2);
  }
  this->check(50, {200, 56}, {256});
  this->check(50, {1}, {256});
  this->check(50, {256}, {1});
}

TYPED_TEST(GramTest, ListsOfOneToFourBlocks) {
  this->check(500, {16, 16, 16}, {16});
  this->check(500, {16, 16, 16, 16}, {16}, 4);
  this->check(501, {20, 17, 3, 20}, {17, 3});
  for (const LocalIndex cols : {17, 18, 20, 22, 23, 24, 26}) {
    this->check(2001, {cols, cols, cols}, {cols, cols});  // [X P W]^T [A W, W]
    this->check(2001, {cols}, {cols, cols});
    this->check(2001, {cols, cols}, {cols});
  }
  this->check(333, {5, 1, 2, 7}, {3, 1, 8, 2}, 1);
}

/// Work that was left for a wait is done in it, once; a backend without waits does none.
TYPED_TEST(GramTest, WorkForTheWaitIsDoneOnce) {
  DenseBlock<typename TypeParam::Scalar> filled(this->device_, 500, 3);
  int done = 0;
  const auto work = [&] {
    ++done;
    this->kernels_->fill(filled.view(), 2.0);
  };
  const int waits = TypeParam::backend == Backend::cuda ? 1 : 0;
  this->kernels_->fill(filled.view(), 1.0);
  this->kernels_->meanwhile(work);
  for (int i = 0; i < 2; ++i) {
    this->check(500, {8, 3}, {8});
    EXPECT_EQ(done, waits);
  }
  for (const auto value : filled.to_host()) EXPECT_EQ(value, 1 + waits);
  this->kernels_->meanwhile(work);
  this->kernels_->meanwhile({});
  this->check(500, {8, 3}, {8});
  EXPECT_EQ(done, waits) << "it was taken back";
}

TYPED_TEST(GramTest, FewAndManyRows) {
  for (const LocalIndex rows : {0, 1, 2, 3, 31, 127, 128, 129, 1000, 40001}) this->check(rows, {9, 4}, {7});
}

// More rows than all thread blocks take at once, several times over, of blocks without odd columns or padding.
TYPED_TEST(GramTest, ManyRowsOfWholePairs) {
  using T = typename TypeParam::Scalar;
  this->check(60001, {4, 4, 4}, {4});
  this->check(40001, {2}, {8});
  BlockSet<T> blocks(this->device_, this->random_, 20003, {64, 64, 64, 64}, 0);
  const std::vector<HostBlock<T>>& here = blocks.here();
  const ConstBlockView<T> views[] = {blocks.view(0), blocks.view(1), blocks.view(2), blocks.view(3)};
  const WideBlock left(std::vector<HostBlock<T>>{here[0], here[1], here[2]});
  for (const std::size_t right : {2, 3}) {  // one of the left, and one of its own
    this->kernels_->gram({views[0], views[1], views[2]}, {views[right]}, this->result_);
    this->compare(left, WideBlock(std::vector<HostBlock<T>>{here[right]}), 9);
  }
}

TYPED_TEST(GramTest, OneSideIsAPartOfTheOther) {
  using T = typename TypeParam::Scalar;
  for (const LocalIndex cols : {5, 12, 16, 17, 20, 24, 32, 100}) {
    BlockSet<T> blocks(this->device_, this->random_, 5003, {cols, cols}, cols % 2);
    const ConstBlockView<T> z = blocks.view(0), q = blocks.view(1);
    const WideBlock both(blocks.here()), second(std::vector<HostBlock<T>>{blocks.here()[1]});
    this->kernels_->gram({q}, {z, q}, this->result_);
    this->compare(second, both);
    this->kernels_->gram({z, q}, {q}, this->result_);
    this->compare(both, second);
  }
}

TYPED_TEST(GramTest, SameBlocksOnBothSides) {
  using T = typename TypeParam::Scalar;
  for (const std::vector<LocalIndex>& cols : {std::vector<LocalIndex>{16}, {11, 5, 30}, {48}, {96}}) {
    BlockSet<T> blocks(this->device_, this->random_, 777, cols, 2);
    this->kernels_->gram(blocks.inputs(), blocks.inputs(), this->result_);
    this->compare(WideBlock(blocks.here()), WideBlock(blocks.here()));
  }
}

TYPED_TEST(GramTest, HundredsOfPairs) {
  using T = typename TypeParam::Scalar;
  this->check(23, {750, 750}, {600, 600});
  this->check(19, {1500}, {1200}, 1);
  this->check(9, {2}, {4100});
  this->check(9, {4100}, {2});
  BlockSet<T> blocks(this->device_, this->random_, 21, {501, 400, 300}, 0);
  this->kernels_->gram(blocks.inputs(), blocks.inputs(), this->result_);
  this->compare(WideBlock(blocks.here()), WideBlock(blocks.here()));
}

TYPED_TEST(GramTest, BlocksOfZerosAndAStaleResult) {
  using T = typename TypeParam::Scalar;
  BlockSet<T> zeros(this->device_, this->random_, 0, {}, 0);
  zeros.add(HostBlock<T>(100, 6, 8));
  this->result_ = random_coefficients(this->random_, 30, 30);
  this->kernels_->gram(zeros.inputs(), zeros.inputs(), this->result_);
  this->compare(WideBlock(zeros.here()), WideBlock(zeros.here()));
}

TYPED_TEST(GramTest, RandomShapes) {
  Random& random = this->random_;
  for (int trial = 0; trial < 80; ++trial) {
    std::vector<LocalIndex> sides[2];
    for (auto& side : sides) {
      side.resize(static_cast<std::size_t>(pick(random, 1, 4)));
      for (LocalIndex& cols : side) cols = pick(random, 1, pick(random, 1, 40));
    }
    this->check(pick(random, 0, 600), sides[0], sides[1], pick(random, 0, 5));
  }
}

}  // namespace
}  // namespace block_eigs::test
