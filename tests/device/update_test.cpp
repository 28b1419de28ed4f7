#include "tests/device/tall_block_test.hpp"

namespace block_eigs::test {
namespace {

template <class Param>
class UpdateTest : public DeviceTest<Param> {
 protected:
  using Scalar = typename Param::Scalar;

  /// [out] = [in] coefficients with outputs apart from the inputs.
  void check(LocalIndex rows, const std::vector<LocalIndex>& in_cols, const std::vector<LocalIndex>& out_cols,
             LocalIndex padding = 0) {
    SCOPED_TRACE(::testing::Message() << rows << " rows, in " << ::testing::PrintToString(in_cols) << ", out "
                                      << ::testing::PrintToString(out_cols) << ", padding " << padding);
    BlockSet<Scalar> in(this->device_, this->random_, rows, in_cols, padding);
    BlockSet<Scalar> out(this->device_, this->random_, rows, out_cols, 2 * padding);
    const SmallMatrix coefficients =
        random_coefficients(this->random_, WideBlock(in.here()).cols(), WideBlock(out.here()).cols());
    this->kernels_->update(in.inputs(), coefficients, out.outputs(out_cols.size()));
    compare(WideBlock(in.here()), coefficients, out, out_cols.size());
    for (std::size_t i = 0; i < in_cols.size(); ++i) ASSERT_EQ(in.download(i).values(), in.here()[i].values());
  }

  /// The first `count` blocks of `out` hold `in` times the coefficients, and nothing beside them changed.
  void compare(const WideBlock& in, const SmallMatrix& coefficients, const BlockSet<Scalar>& out,
               std::size_t count) {
    LocalIndex column = 0;
    const double factor = static_cast<double>(in.cols()) + 2.0;
    for (std::size_t block = 0; block < count; ++block) {
      const HostBlock<Scalar> got = out.download(block);
      for (LocalIndex i = 0; i < got.rows(); ++i) {
        for (LocalIndex j = 0; j < got.cols(); ++j) {
          expect_close<Scalar>(static_cast<double>(got(i, j)), product_element(in, coefficients, i, column + j),
                               factor, i, j);
        }
      }
      expect_rest_untouched(out.here()[block], got, 0, got.cols());
      column += got.cols();
    }
  }
};

TYPED_TEST_SUITE(UpdateTest, EveryBackend, BackendName);

TYPED_TEST(UpdateTest, EveryWidth) {
  for (LocalIndex cols = 1; cols <= 100; cols += cols < 34 ? 1 : 11) {
    this->check(67, {cols}, {cols}, cols % 3);
    this->check(35, {cols, 2, cols}, {cols, cols}, cols % 2);
  }
  this->check(20, {200, 56}, {256});
  this->check(20, {1}, {256});
  this->check(20, {256}, {1});
}

TYPED_TEST(UpdateTest, ListsOfOneToSixBlocks) {
  this->check(400, {16, 16, 16}, {16, 16});
  this->check(401, {20, 17, 3, 20}, {17, 3, 20, 5}, 4);
  this->check(333, {5, 1, 2, 7}, {3, 1, 8, 2}, 1);
  this->check(401, {16, 16, 16, 16, 16, 16}, {16});
  this->check(402, {16, 15, 16, 1, 3, 16}, {16}, 1);
  this->check(333, {2, 1, 2, 7, 4, 9}, {3, 1, 8, 2, 2, 1}, 3);
}

TYPED_TEST(UpdateTest, FewAndManyRows) {
  for (const LocalIndex rows : {0, 1, 2, 3, 31, 64, 65, 127, 129, 5001}) this->check(rows, {9, 4}, {7, 2});
}

// More rows than all thread blocks take at once, of blocks without odd columns or padding.
TYPED_TEST(UpdateTest, ManyRowsOfWholePairs) {
  this->check(60001, {4, 4, 4}, {4, 4});
  this->check(40001, {8, 8, 8}, {8, 8});
  this->check(40001, {16, 16, 16}, {16, 16});
}

TYPED_TEST(UpdateTest, OutputsAmongTheInputs) {
  using T = typename TypeParam::Scalar;
  struct Case {
    std::vector<LocalIndex> cols;
    std::size_t outputs;
  };
  for (const Case& c : {Case{{16, 16, 16}, 2}, Case{{7}, 1}, Case{{20, 13, 20}, 3}, Case{{33, 1, 5, 9}, 4},
                        Case{{16, 16, 16, 16, 16, 16}, 1}, Case{{96}, 1}, Case{{64, 64, 64}, 2}}) {
    BlockSet<T> blocks(this->device_, this->random_, 1003, c.cols, 3);
    LocalIndex out_cols = 0;
    for (std::size_t i = 0; i < c.outputs; ++i) out_cols += c.cols[i];
    const SmallMatrix coefficients = random_coefficients(this->random_, WideBlock(blocks.here()).cols(), out_cols);
    this->kernels_->update(blocks.inputs(), coefficients, blocks.outputs(c.outputs));
    this->compare(WideBlock(blocks.here()), coefficients, blocks, c.outputs);
    for (std::size_t i = c.outputs; i < c.cols.size(); ++i) {
      ASSERT_EQ(blocks.download(i).values(), blocks.here()[i].values());
    }
  }
}

TYPED_TEST(UpdateTest, OutputsAmongTheInputsInAnotherOrder) {
  using T = typename TypeParam::Scalar;
  BlockSet<T> blocks(this->device_, this->random_, 517, {12, 12, 6}, 0);
  const SmallMatrix coefficients = random_coefficients(this->random_, 30, 24);
  this->kernels_->update(blocks.inputs(), coefficients, {blocks.view(1), blocks.view(0)});
  const HostBlock<T> got[] = {blocks.download(1), blocks.download(0)};
  const WideBlock in(blocks.here());
  for (LocalIndex i = 0; i < 517; ++i) {
    for (LocalIndex j = 0; j < 24; ++j) {
      expect_close<T>(static_cast<double>(got[j / 12](i, j % 12)), product_element(in, coefficients, i, j), 32.0,
                      i, j);
    }
  }
}

// Each reads what the one before it wrote, and replaces what that read: kernels that begin early must wait.
TYPED_TEST(UpdateTest, OneAfterTheOther) {
  using T = typename TypeParam::Scalar;
  constexpr LocalIndex cols = 16;
  constexpr int rounds = 40;
  BlockSet<T> blocks(this->device_, this->random_, 30011, {cols, cols}, 0);
  SmallMatrix rotation(2 * cols, cols);  // (x, y) -> 0.6 x + 0.8 y, a half turn of the columns beside it
  for (LocalIndex j = 0; j < cols; ++j) {
    rotation(j, j) = 0.6;
    rotation(cols + (j + 1) % cols, j) = 0.8;
  }
  std::vector<double> x, y;
  const auto values = [&](std::size_t block) {
    const HostBlock<T> here = blocks.download(block);
    std::vector<double> all;
    for (LocalIndex i = 0; i < here.rows(); ++i) {
      for (LocalIndex j = 0; j < cols; ++j) all.push_back(static_cast<double>(here(i, j)));
    }
    return all;
  };
  x = values(0);
  y = values(1);
  SmallMatrix gram;
  for (int round = 0; round < rounds; ++round) {
    this->kernels_->update({blocks.view(0), blocks.view(1)}, rotation, {blocks.view(round % 2)});
    if (round % 5 == 4) this->kernels_->gram({blocks.view(0)}, {blocks.view(1)}, gram);
    std::vector<double>& to = round % 2 == 0 ? x : y;
    std::vector<double> next(x.size());
    for (std::size_t k = 0; k < x.size(); ++k) {
      const std::size_t j = k % cols;
      next[k] = static_cast<double>(static_cast<T>(0.6 * x[k] + 0.8 * y[k - j + (j + 1) % cols]));
    }
    to = next;
  }
  this->kernels_->update({blocks.view(0), blocks.view(1)}, rotation, {blocks.view(0)});
  this->kernels_->gram({blocks.view(0)}, {blocks.view(1)}, gram);
  const std::vector<double> got[] = {values(0), values(1)};
  double dot = 0.0;
  double size = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const std::size_t j = k % cols;
    x[k] = static_cast<double>(static_cast<T>(0.6 * x[k] + 0.8 * y[k - j + (j + 1) % cols]));
    if (j != 3) continue;
    dot += got[0][k] * got[1][k + 2];
    size += std::abs(got[0][k] * got[1][k + 2]);
  }
  EXPECT_NEAR(gram(3, 5), dot, 1e-5 * size);
  double largest = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k)
    largest = std::max({largest, std::abs(got[0][k] - x[k]) / (1.0 + std::abs(x[k])),
                        std::abs(got[1][k] - y[k]) / (1.0 + std::abs(y[k]))});
  EXPECT_LE(largest, 100.0 * rounds * std::numeric_limits<T>::epsilon());
}

// As a run for hundreds of pairs has them: more columns than one kernel of the GPU makes, or takes.
TYPED_TEST(UpdateTest, HundredsOfPairs) {
  this->check(21, {750, 750}, {600, 600});
  this->check(37, {1500}, {1200}, 1);
  this->check(3, {1025}, {1025});
  this->check(5, {20}, {2100, 7}, 3);
  this->check(5, {4200}, {1030});
  this->check(2, {3000, 5, 1300}, {1027, 9});
}

TYPED_TEST(UpdateTest, HundredsOfPairsInPlace) {
  using T = typename TypeParam::Scalar;
  for (const LocalIndex padding : {0, 3}) {
    BlockSet<T> blocks(this->device_, this->random_, 33, {700, 500, 300}, padding);
    const WideBlock before(blocks.here());
    const SmallMatrix coefficients = random_coefficients(this->random_, 1500, 1200);
    this->kernels_->update(blocks.inputs(), coefficients, blocks.outputs(2));
    this->compare(before, coefficients, blocks, 2);
    ASSERT_EQ(blocks.download(2).values(), blocks.here()[2].values());
  }
  BlockSet<T> wide(this->device_, this->random_, 7, {1100, 3400}, 0);  // inputs in pieces, too
  const WideBlock before(wide.here());
  const SmallMatrix coefficients = random_coefficients(this->random_, 4500, 1100);
  this->kernels_->update(wide.inputs(), coefficients, wide.outputs(1));
  this->compare(before, coefficients, wide, 1);
  ASSERT_EQ(wide.download(1).values(), wide.here()[1].values());
}

TYPED_TEST(UpdateTest, CopiesExactlyWithAnIdentity) {
  using T = typename TypeParam::Scalar;
  BlockSet<T> in(this->device_, this->random_, 129, {15}, 0);
  BlockSet<T> out(this->device_, this->random_, 129, {15}, 1);
  this->kernels_->update(in.inputs(), SmallMatrix::identity(15), out.outputs(1));
  const HostBlock<T> got = out.download(0);
  for (LocalIndex i = 0; i < 129; ++i) {
    for (LocalIndex j = 0; j < 15; ++j) ASSERT_EQ(got(i, j), in.here()[0](i, j));
  }
}

// As solvers have them: inputs that add nothing to an output, or themselves, in place of the whole or shifted.
TYPED_TEST(UpdateTest, BlocksOfCoefficientsThatAreZeroOrTheIdentity) {
  using T = typename TypeParam::Scalar;
  Random& random = this->random_;
  for (int trial = 0; trial < 120; ++trial) {
    std::vector<LocalIndex> cols(static_cast<std::size_t>(pick(random, 1, 4)));
    for (LocalIndex& count : cols) count = trial % 3 == 0 ? 8 * pick(random, 1, 4) : pick(random, 1, 21);
    const auto outputs = static_cast<std::size_t>(pick(random, 1, static_cast<int>(cols.size())));
    BlockSet<T> blocks(this->device_, random, pick(random, 1, 300), cols, pick(random, 0, 3));
    const WideBlock in(blocks.here());
    int out_cols = 0;
    for (std::size_t i = 0; i < outputs; ++i) out_cols += cols[i];
    SmallMatrix coefficients = random_coefficients(random, in.cols(), out_cols);
    int row = 0;
    for (const LocalIndex height : cols) {
      int column = 0;
      for (std::size_t i = 0; i < outputs; column += cols[i], ++i) {
        const int kind = pick(random, 0, 3);  // as it is, zero, identity, identity moved or spoilt
        for (int j = 0; j < cols[i] && kind > 0; ++j) {
          for (int k = 0; k < height; ++k) {
            coefficients(row + k, column + j) = kind > 1 && k == j + (kind > 2 ? trial % 5 : 0) ? 1.0 : 0.0;
          }
        }
        if (kind == 3 && trial % 2 == 0) coefficients(row, column) = -1.0;
      }
      row += height;
    }
    this->kernels_->update(blocks.inputs(), coefficients, blocks.outputs(outputs));
    this->compare(in, coefficients, blocks, outputs);
  }
}

TYPED_TEST(UpdateTest, RandomShapes) {
  Random& random = this->random_;
  for (int trial = 0; trial < 80; ++trial) {
    std::vector<LocalIndex> sides[2];
    for (auto& side : sides) {
      side.resize(static_cast<std::size_t>(pick(random, 1, 4)));
      for (LocalIndex& cols : side) cols = pick(random, 1, pick(random, 1, 40));
    }
    this->check(pick(random, 0, 300), sides[0], sides[1], pick(random, 0, 5));
  }
}

}  // namespace
}  // namespace block_eigs::test
