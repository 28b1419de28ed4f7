#include "spmm/cuda/dense/update_slabs.hpp"

#include "tests/device/tall_block_test.hpp"

// How wide updates are cut for the GPU, with the host's kernels in place of the GPU's.
namespace block_eigs::test {
namespace {

class UpdateSlabsTest : public ::testing::Test {
 protected:
  /// [out] = [in] coefficients by slabs, `panel_rows` rows at a time.
  void update(const ConstBlockList<double>& in, const SmallMatrix& coefficients, const BlockList<double>& out,
              const cuda::SlabLimits& limits, LocalIndex panel_rows) {
    const cuda::UpdateSlabs<double> slabs(in, out, limits);
    panel_columns_ = slabs.panel_columns();
    std::vector<double> panel(static_cast<std::size_t>(panel_rows) * static_cast<std::size_t>(panel_columns_),
                              7e77);
    double* const memory = panel_columns_ > 0 ? panel.data() : nullptr;
    const LocalIndex step = panel_columns_ > 0 ? panel_rows : out.rows();
    for (LocalIndex first = 0; first < out.rows(); first += step) {
      const LocalIndex rows = std::min(step, out.rows() - first);
      slabs.copy_inputs(first, rows, memory, [&](ConstBlockView<double> from, BlockView<double> to) {
        EXPECT_LE((to.data - memory) + static_cast<std::ptrdiff_t>(rows - 1) * to.stride + to.cols,
                  static_cast<std::ptrdiff_t>(panel.size()));
        kernels_->copy(from, to);
      });
      for (int p = 0; p < slabs.products(); ++p) {
        const auto inputs = slabs.inputs(p, first, rows, memory);
        const BlockView<double> output = slabs.output(p, first, rows);
        EXPECT_LE(inputs.cols(), limits.inputs + limits.outputs);
        EXPECT_LE(output.cols, limits.outputs);
        kernels_->update(inputs, slabs.coefficients(p, coefficients), {output});
      }
    }
  }

  void expect_product(const WideBlock& in, const SmallMatrix& coefficients, LocalIndex column,
                      const HostBlock<double>& before, const HostBlock<double>& got) {
    for (LocalIndex i = 0; i < got.rows(); ++i) {
      for (LocalIndex j = 0; j < got.cols(); ++j) {
        expect_close<double>(got(i, j), product_element(in, coefficients, i, column + j), in.cols() + 8.0, i, j);
      }
    }
    expect_rest_untouched(before, got, 0, got.cols());
  }

  std::shared_ptr<Device> device_ = make_device(Backend::host, 0);
  std::shared_ptr<Kernels<double>> kernels_ = make_kernels<double>(device_);
  Random random_{5};
  LocalIndex panel_columns_ = 0;
};

TEST_F(UpdateSlabsTest, RandomShapesApartAndInPlace) {
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<LocalIndex> cols(static_cast<std::size_t>(pick(random_, 1, 4)));
    for (LocalIndex& count : cols) count = pick(random_, 1, 30);
    const LocalIndex rows = pick(random_, 1, 40);
    BlockSet<double> in(device_, random_, rows, cols, pick(random_, 0, 3));
    BlockSet<double> apart(device_, random_, rows, cols, pick(random_, 0, 3));
    const bool in_place = trial % 2 == 0;
    BlockSet<double>& out = in_place ? in : apart;
    const auto outputs = static_cast<std::size_t>(pick(random_, 1, static_cast<LocalIndex>(cols.size())));
    LocalIndex out_cols = 0;
    for (std::size_t i = 0; i < outputs; ++i) out_cols += cols[i];
    const WideBlock before(in.here());
    const SmallMatrix coefficients = random_coefficients(random_, before.cols(), out_cols);
    const cuda::SlabLimits limits{pick(random_, 1, 130), pick(random_, 1, 40)};
    SCOPED_TRACE(::testing::Message() << "in " << ::testing::PrintToString(cols) << ", " << outputs << " outputs, "
                                      << limits.inputs << " x " << limits.outputs);
    update(in.inputs(), coefficients, out.outputs(outputs), limits, pick(random_, 1, 11));
    EXPECT_EQ(panel_columns_ > 0, in_place);
    LocalIndex column = 0;
    for (std::size_t i = 0; i < outputs; column += cols[i], ++i) {
      expect_product(before, coefficients, column, out.here()[i], out.download(i));
    }
    for (std::size_t i = in_place ? outputs : 0; i < cols.size(); ++i) {
      ASSERT_EQ(in.download(i).values(), in.here()[i].values());
    }
  }
}

// Outputs shifted within the rows of an input, and narrower than it.
TEST_F(UpdateSlabsTest, OutputsShiftedWithinTheInputs) {
  BlockSet<double> blocks(device_, random_, 23, {40, 9}, 0);
  const WideBlock before(blocks.here());
  const SmallMatrix coefficients = random_coefficients(random_, 49, 25);
  update(blocks.inputs(), coefficients, {blocks.view(0).columns(11, 25)}, {20, 8}, 4);
  EXPECT_GE(panel_columns_, 40);
  EXPECT_LT(panel_columns_, 49);  // the other input is read where it is
  const HostBlock<double> got = blocks.download(0);
  for (LocalIndex i = 0; i < 23; ++i) {
    for (LocalIndex j = 0; j < 40; ++j) {
      if (j < 11 || j >= 36) {
        EXPECT_EQ(got(i, j), blocks.here()[0](i, j));
      } else {
        expect_close<double>(got(i, j), product_element(before, coefficients, i, j - 11), 60.0, i, j);
      }
    }
  }
}

TEST_F(UpdateSlabsTest, PanelsHoldARowAtLeastAndAllRowsAtMost) {
  EXPECT_EQ(cuda::panel_shape(100, 0, 5).rows, 100);
  EXPECT_EQ(cuda::panel_shape(100, 0, 5).doubles, 0U);
  EXPECT_EQ(cuda::panel_shape(100, 12, 5).rows, 100);
  EXPECT_EQ(cuda::panel_shape(101, 12, 5).doubles, 152U);
  EXPECT_EQ(cuda::panel_shape(100, std::size_t{1} << 40, 5).rows, 1);
  const cuda::PanelShape large = cuda::panel_shape(2'000'000, 1500 * sizeof(double), 2'000'000);
  EXPECT_LE(large.doubles * sizeof(double), std::size_t{64} << 20);
  EXPECT_GT(large.rows, 5000);
}

}  // namespace
}  // namespace block_eigs::test
