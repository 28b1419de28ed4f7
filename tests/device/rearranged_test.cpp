#include "tests/device/sparse_algebra_test.hpp"

// Matrices of the rows and columns of others: what ranks' parts are put together of.
namespace block_eigs::test {
namespace {

template <class Param>
class SparseAlgebraRearranged : public SparseAlgebraTest<Param> {
 protected:
  CsrBuffers<double> on_device(const HostCsr& a) const { return a.on(this->device_); }
};
TYPED_TEST_SUITE(SparseAlgebraRearranged, BothBackends, BackendName);

LocalIndex of_any_length(LocalIndex i) { return i % 50 == 3 ? 300 : i % 12; }

TYPED_TEST(SparseAlgebraRearranged, StacksMatrices) {
  for (const LocalIndex below : {0, 1, 70}) {
    for (const LocalIndex above : {0, 900}) {
      const HostCsr a = random_matrix(this->random_, above, 200, of_any_length);
      const HostCsr b = random_matrix(this->random_, below, 200, of_any_length);
      const auto ad = this->on_device(a);
      const auto bd = this->on_device(b);
      HostCsr expected = a;
      for (std::size_t i = 0; i + 1 < b.offsets.size(); ++i) {
        for (auto k = static_cast<std::size_t>(b.offsets[i]); k < static_cast<std::size_t>(b.offsets[i + 1]); ++k)
          expected.add(b.indices[k], b.values[k]);
        expected.close_row();
      }
      EXPECT_EQ(download(this->algebra_->stacked(ad.view(), bd.view())), expected);
    }
  }
}

TYPED_TEST(SparseAlgebraRearranged, AddsRows) {
  HostCsr a = random_matrix(this->random_, 800, 250, of_any_length);
  // Sums that begin with 0.0 never are.
  for (std::size_t k = 0; k < a.values.size(); k += 5) a.values[k] = -0.0;
  // Several for one row, and none for most.
  const std::vector<LocalIndex> rows{0, 3, 3, 3, 17, 500, 799, 799};
  for (const LocalIndex count : {0, 8}) {
    const HostCsr b = random_matrix(this->random_, count, 250, of_any_length);
    const auto ad = this->on_device(a);
    const auto bd = this->on_device(b);
    const Buffer<LocalIndex> to = upload(this->device_, rows);
    const HostCsr found = download(this->algebra_->with_added_rows(ad.view(), bd.view(), to.data()));
    expect_ascending(found);
    Dense expected = a.dense();
    const Dense added = b.dense();
    for (std::size_t k = 0; k < added.size(); ++k) {
      for (std::size_t j = 0; j < added[k].size(); ++j)
        expected[static_cast<std::size_t>(rows[k])][j] += added[k][j];
    }
    EXPECT_EQ(found.dense(), expected);
    const auto is_negative_zero = [](double value) { return value == 0.0 && std::signbit(value); };
    EXPECT_TRUE(std::none_of(found.values.begin(), found.values.end(), is_negative_zero));
  }
}

TYPED_TEST(SparseAlgebraRearranged, MovesColumns) {
  const HostCsr a = random_matrix(this->random_, 700, 90, of_any_length);
  const auto ad = this->on_device(a);
  std::vector<LocalIndex> places;
  for (LocalIndex c = 60; c < 90; ++c) places.push_back(3 * c - 100);
  HostCsr expected = a;
  expected.columns = 200;
  for (LocalIndex& column : expected.indices) column = column < 60 ? column : 3 * column - 100;
  const Buffer<LocalIndex> to = upload(this->device_, places);
  EXPECT_EQ(download(this->algebra_->with_columns(ad.view(), 60, to, 200)), expected);
}

/// Rows in the order of ghosts below, own columns, ghosts above, as numbers over all ranks ascend.
TYPED_TEST(SparseAlgebraRearranged, SplitsColumnsWithOthersBefore) {
  constexpr LocalIndex all = 300;
  constexpr LocalIndex own = 120;
  for (const LocalIndex below : {1, 75, 180}) {
    const HostCsr global = random_matrix(this->random_, 1200, all, of_any_length);
    HostCsr a = global;  // in local numbers
    for (LocalIndex& column : a.indices)
      column = column < below ? own + column : column < below + own ? column - below : column;
    HostCsr left;
    HostCsr right;
    left.columns = own;
    right.columns = all - own;
    std::vector<LocalIndex> expected_rows;
    for (std::size_t i = 0; i + 1 < a.offsets.size(); ++i) {
      bool has_others = false;
      for (auto k = static_cast<std::size_t>(a.offsets[i]); k < static_cast<std::size_t>(a.offsets[i + 1]); ++k) {
        if (a.indices[k] < own) {
          left.add(a.indices[k], a.values[k]);
        } else {
          right.add(a.indices[k] - own, a.values[k]);
          has_others = true;
        }
      }
      left.close_row();
      if (!has_others) continue;
      right.close_row();
      expected_rows.push_back(static_cast<LocalIndex>(i));
    }
    const SplitColumns split = this->algebra_->split_columns(this->on_device(a).view(), own, below);
    EXPECT_EQ(download(split.own), left);
    EXPECT_EQ(download(split.others), right);
    EXPECT_EQ(download(split.rows), expected_rows);
  }
}

TYPED_TEST(SparseAlgebraRearranged, SplitsColumns) {
  for (const LocalIndex all_rows : {0, 1, 1200}) {
    const HostCsr a = random_matrix(this->random_, all_rows, 300, of_any_length);
    const auto ad = this->on_device(a);
    for (const LocalIndex own : {0, 170, 299, 300}) {
      const SplitColumns split = this->algebra_->split_columns(ad.view(), own);
      const HostCsr left = download(split.own);
      const HostCsr right = download(split.others);
      const std::vector<LocalIndex> rows = download(split.rows);
      EXPECT_EQ(left.rows(), all_rows);
      EXPECT_EQ(left.columns, own);
      EXPECT_EQ(right.columns, 300 - own);
      ASSERT_EQ(rows.size(), static_cast<std::size_t>(right.rows()));
      EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
      HostCsr together;
      together.columns = 300;
      std::size_t k = 0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(all_rows); ++i) {
        const auto copy = [&](const HostCsr& from, std::size_t row, LocalIndex first) {
          for (auto e = static_cast<std::size_t>(from.offsets[row]);
               e < static_cast<std::size_t>(from.offsets[row + 1]); ++e)
            together.add(first + from.indices[e], from.values[e]);
        };
        copy(left, i, 0);
        if (k < rows.size() && rows[k] == static_cast<LocalIndex>(i)) {
          EXPECT_LT(right.offsets[k], right.offsets[k + 1]) << "rows without others are left out";
          copy(right, k++, own);
        }
        together.close_row();
      }
      EXPECT_EQ(together, a);
    }
  }
}

// As a rank has it that holds nothing of a level.
TYPED_TEST(SparseAlgebraRearranged, NothingOfNothing) {
  const HostCsr none = random_matrix(this->random_, 0, 0, of_any_length);
  const auto a = this->on_device(none);
  const CouplingGraph graph = this->algebra_->couplings(a.view(), 1, 0.08, 10.0);
  const AggregateMap map = this->algebra_->aggregate(graph);
  EXPECT_EQ(map.count, 0);
  const Buffer<double> vectors(this->device_, 0);
  const TentativeInterpolation t = this->algebra_->tentative(map, 1, vectors, 1);
  const MatrixNumbers numbers = this->algebra_->numbers(a.view());
  EXPECT_EQ(numbers.norm_inf, 0.0);
  const auto p = this->algebra_->smoothed(a.view(), numbers, t.interpolation.view(), graph, 0.5);
  const auto r = this->algebra_->transpose(p.view());
  const auto c = this->algebra_->galerkin(r.view(), a.view(), p.view());
  ASSERT_TRUE(c.has_value());
  EXPECT_EQ(download(*c), none);
}

}  // namespace
}  // namespace block_eigs::test
