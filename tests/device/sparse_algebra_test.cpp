#include "tests/device/sparse_algebra_test.hpp"

namespace block_eigs::test {
namespace {

TYPED_TEST_SUITE(SparseAlgebraTest, BothBackends, BackendName);

TYPED_TEST(SparseAlgebraTest, MultipliesMatricesOfAllShapes) {
  const auto few = [](LocalIndex i) { return i % 5; };
  const auto with_long_row = [](LocalIndex i) { return i == 3 ? LocalIndex{400} : i % 7; };
  const auto none = [](LocalIndex) { return 0; };
  Random& random = this->random_;
  this->expect_product(random_matrix(random, 100, 70, few), random_matrix(random, 70, 90, few));
  this->expect_product(random_matrix(random, 120, 300, with_long_row),
                       random_matrix(random, 300, 500, with_long_row));
  this->expect_product(random_matrix(random, 1, 50, [](LocalIndex) { return 50; }),
                       random_matrix(random, 50, 40, few));
  // Few columns of many entries each.
  this->expect_product(random_matrix(random, 300, 60, [](LocalIndex) { return 200; }),
                       random_matrix(random, 60, 20, [](LocalIndex) { return 60; }));
  this->expect_product(random_matrix(random, 30, 50, none), random_matrix(random, 50, 40, few));
  this->expect_product(random_matrix(random, 30, 50, few), random_matrix(random, 50, 40, none));
  this->expect_product(random_matrix(random, 80, 60, [](LocalIndex) { return 200; }),
                       random_matrix(random, 60, 250, [](LocalIndex) { return 700; }));
}

/// With `width` columns, side by side, for each of those of `a`.
HostCsr in_groups(Random& random, const HostCsr& a, LocalIndex width) {
  std::uniform_real_distribution<double> value(-1.0, 1.0);
  HostCsr result;
  result.columns = a.columns * width;
  for (LocalIndex i = 0; i < a.rows(); ++i) {
    for (auto k = static_cast<std::size_t>(a.offsets[i]); k < static_cast<std::size_t>(a.offsets[i + 1]); ++k) {
      for (LocalIndex g = 0; g < width; ++g) result.add(a.indices[k] * width + g, value(random));
    }
    result.close_row();
  }
  return result;
}

/// Column g of every group of `width`.
HostCsr slice_of(const HostCsr& a, LocalIndex width, LocalIndex g) {
  HostCsr result;
  result.columns = a.columns / width;
  for (LocalIndex i = 0; i < a.rows(); ++i) {
    for (auto k = static_cast<std::size_t>(a.offsets[i]); k < static_cast<std::size_t>(a.offsets[i + 1]); ++k) {
      if (a.indices[k] % width == g) result.add(a.indices[k] / width, a.values[k]);
    }
    result.close_row();
  }
  return result;
}

// Bit by bit what they are one by one, and right where one column breaks the pattern.
TYPED_TEST(SparseAlgebraTest, MultipliesColumnsThatComeInGroups) {
  const auto few = [](LocalIndex i) { return i % 6; };
  const HostCsr a = random_matrix(this->random_, 200, 300, [](LocalIndex i) { return i % 40; });
  constexpr LocalIndex beyond_any_table = 1'100'000;
  for (const LocalIndex width : {2, 3, 4, 5, 6, 12}) {
    for (const LocalIndex groups : {40, beyond_any_table}) {
      HostCsr b = in_groups(this->random_, random_matrix(this->random_, 300, groups, few), width);
      const auto times = [&](const HostCsr& p) {
        return download(*this->algebra_->product(a.on(this->device_).view(), p.on(this->device_).view()));
      };
      const HostCsr found = times(b);
      expect_ascending(found);
      for (LocalIndex g = 0; g < width; ++g)
        EXPECT_TRUE(slice_of(found, width, g) == times(slice_of(b, width, g))) << width << ", " << groups;
      if (groups == beyond_any_table) continue;
      this->expect_product(a, b);
      b.indices.pop_back();
      b.values.pop_back();
      --b.offsets.back();
      this->expect_product(a, b);
    }
  }
}

TYPED_TEST(SparseAlgebraTest, RefusesProductsThatAreTooLarge) {
  const HostCsr a = random_matrix(this->random_, 200, 200, [](LocalIndex) { return 6; });
  const auto on_device = a.on(this->device_);
  const auto c = this->algebra_->product(on_device.view(), on_device.view());
  const Offset entries = c->pattern->nonzeros;
  EXPECT_TRUE(this->algebra_->product(on_device.view(), on_device.view(), entries).has_value());
  EXPECT_FALSE(this->algebra_->product(on_device.view(), on_device.view(), entries - 1).has_value());
}

// R (A P) has the sums of the two products, one after the other, bit by bit.
TYPED_TEST(SparseAlgebraTest, FormsGalerkinProductsLikeTwoProducts) {
  for (const LocalIndex most : {3, 40}) {  // many entries a row: columns are put in order in another way
    const HostCsr a = random_matrix(this->random_, 700, 700, [&](LocalIndex i) { return i % most; });
    const HostCsr p =
        random_matrix(this->random_, 700, 260, [&](LocalIndex i) { return i % 11 == 0 ? 0 : 1 + i % 5; });
    const auto ad = a.on(this->device_);
    const auto pd = p.on(this->device_);
    const auto rd = this->algebra_->transpose(pd.view());
    const auto ap = this->algebra_->product(ad.view(), pd.view());
    const HostCsr expected = download(*this->algebra_->product(rd.view(), ap->view()));
    const auto found = this->algebra_->galerkin(rd.view(), ad.view(), pd.view());
    EXPECT_TRUE(download(*found) == expected) << most;
    expect_ascending(expected);
    const auto entries = static_cast<Offset>(expected.values.size());
    EXPECT_TRUE(this->algebra_->galerkin(rd.view(), ad.view(), pd.view(), entries).has_value());
    EXPECT_FALSE(this->algebra_->galerkin(rd.view(), ad.view(), pd.view(), entries - 1).has_value());
  }
}

TYPED_TEST(SparseAlgebraTest, FormsGalerkinProductsOfColumnsThatComeInGroups) {
  const HostCsr a = random_matrix(this->random_, 500, 500, [](LocalIndex i) { return i % 9; });
  for (const LocalIndex width : {2, 3, 6}) {
    const HostCsr p =
        in_groups(this->random_, random_matrix(this->random_, 500, 60, [](LocalIndex i) { return i % 4; }), width);
    const auto ad = a.on(this->device_);
    const auto pd = p.on(this->device_);
    const auto rd = this->algebra_->transpose(pd.view());
    const HostCsr found = download(*this->algebra_->galerkin(rd.view(), ad.view(), pd.view()));
    expect_ascending(found);
    for (LocalIndex g = 0; g < width; ++g) {
      const auto slice = slice_of(p, width, g).on(this->device_);
      const HostCsr expected = download(*this->algebra_->galerkin(rd.view(), ad.view(), slice.view()));
      EXPECT_TRUE(slice_of(found, width, g) == expected) << width;
    }
  }
}

TYPED_TEST(SparseAlgebraTest, Transposes) {
  for (const LocalIndex columns : {1, 50, 3000}) {
    const HostCsr a = random_matrix(this->random_, 400, columns, [](LocalIndex i) { return i % 9; });
    const HostCsr found = download(this->algebra_->transpose(a.on(this->device_).view()));
    expect_ascending(found);
    ASSERT_EQ(found.rows(), columns);
    ASSERT_EQ(found.columns, 400);
    const Dense dense = a.dense();
    const Dense transposed = found.dense();
    for (std::size_t i = 0; i < dense.size(); ++i) {
      for (std::size_t j = 0; j < dense[i].size(); ++j) ASSERT_EQ(dense[i][j], transposed[j][i]);
    }
    EXPECT_EQ(found.values.size(), a.values.size());
  }
}

TYPED_TEST(SparseAlgebraTest, CountsEntriesOfSampledRows) {
  const HostCsr r = random_matrix(this->random_, 100, 300, [](LocalIndex i) { return i % 40; });
  const HostCsr a = random_matrix(this->random_, 300, 310, [](LocalIndex i) { return i % 9; });
  const HostCsr p = random_matrix(this->random_, 310, 200, [](LocalIndex i) { return i % 3; });
  const Dense rap = product_of(product_of(r.dense(), a.dense(), 310), p.dense(), 200);
  Offset expected = 0;
  for (std::size_t i = 0; i < rap.size(); i += 7) expected += 200 - std::count(rap[i].begin(), rap[i].end(), 0.0);
  const auto on_device = [&](const HostCsr& matrix) { return matrix.on(this->device_); };
  const auto rd = on_device(r);
  const auto ad = on_device(a);
  const auto pd = on_device(p);
  EXPECT_EQ(this->algebra_->entries_of_triple(rd.view(), ad.view(), pd.view(), 7), expected);
  Offset longest = 0;
  for (std::size_t i = 0; i < 100; ++i) longest = std::max(longest, r.offsets[i + 1] - r.offsets[i]);
  EXPECT_EQ(this->algebra_->longest_row(rd.view()), longest);
}

TYPED_TEST(SparseAlgebraTest, FindsNumbers) {
  HostCsr a;
  a.columns = 4;
  for (const auto& [column, value] : std::vector<std::pair<LocalIndex, double>>{{0, 4.0}, {1, -1.0}})
    a.add(column, value);
  a.close_row();
  for (const auto& [column, value] : std::vector<std::pair<LocalIndex, double>>{{0, -1.0}, {1, 0.5}, {3, 2.0}})
    a.add(column, value);
  a.close_row();
  a.close_row();
  a.add(1, 2.0), a.add(3, 8.0);
  a.close_row();
  const auto on_device = a.on(this->device_);
  const MatrixNumbers numbers = this->algebra_->numbers(on_device.view());
  EXPECT_EQ(download(numbers.diagonal), (std::vector<double>{4.0, 0.5, 0.0, 8.0}));
  EXPECT_DOUBLE_EQ(numbers.norm_inf, 10.0);
  EXPECT_DOUBLE_EQ(numbers.scaled_gershgorin, 7.0);
  EXPECT_DOUBLE_EQ(numbers.largest_diagonal, 8.0);
  // Row 1 has 2 beside 0.5: that much cannot be of a semi-definite matrix, but 2 min(1, 2 / 8) is no more. Row 2
  // is empty, as the largest then.
  EXPECT_EQ(download(numbers.jacobi_diagonal()), (std::vector<double>{4.0, 0.5, 8.0, 8.0}));
  EXPECT_EQ(numbers.constant, 0.0);
  // Sums of rows 5, 3.5, 0 and 10: of the three that are not zero the exponents are 2, 1 and 3.
  EXPECT_EQ(download(numbers.row_sums), (std::vector<double>{5.0, 3.5, 0.0, 10.0}));
  EXPECT_DOUBLE_EQ(numbers.typical_row_sum, 4.0);
  EXPECT_EQ(download(numbers.damped), (std::vector<double>{4.0, 1.75, 8.0, 8.0}));
  EXPECT_DOUBLE_EQ(numbers.damped_bound, 2.0);
  EXPECT_DOUBLE_EQ(numbers.interpolation_bound, 2.0);
  const auto shifted = download(this->algebra_->shifted(on_device.view(), on_device.pattern, 0.25));
  EXPECT_EQ(shifted.values, (std::vector<double>{3.75, -1.0, -1.0, 0.25, 2.0, 2.0, 7.75}));
  EXPECT_EQ(download(this->algebra_->to_float(on_device.values)),
            (std::vector<float>{4.0F, -1.0F, -1.0F, 0.5F, 2.0F, 2.0F, 8.0F}));
  EXPECT_EQ(download(this->algebra_->inverse_of(numbers.diagonal, 0.2, 1.0)),
            (std::vector<double>{0.25, 1.0, 1.0, 0.2}));
}

TYPED_TEST(SparseAlgebraTest, KnowsConstantDiagonals) {
  HostCsr a;
  a.columns = 300;
  for (LocalIndex i = 0; i < 300; ++i) a.add(i, 2.5), a.close_row();
  const auto numbers = [&] { return this->algebra_->numbers(a.on(this->device_).view()); };
  EXPECT_EQ(numbers().constant, 2.5);
  EXPECT_EQ(numbers().jacobi_constant, 2.5);
  a.values[299] = -2.5;
  EXPECT_EQ(numbers().constant, 2.5) << "what smoothers divide by is positive";
  EXPECT_EQ(numbers().jacobi_constant, 0.0);
  a.values[299] = 2.0;
  EXPECT_EQ(numbers().constant, 0.0);
  EXPECT_EQ(numbers().jacobi_constant, 0.0);
  for (double& value : a.values) value = -2.0;
  EXPECT_EQ(numbers().jacobi_constant, -2.0);
}

TYPED_TEST(SparseAlgebraTest, SettlesEmptyRows) {
  HostCsr a;
  a.columns = 3;
  a.add(0, 1e-18), a.close_row();
  a.add(1, 0.0), a.close_row();
  a.add(0, 1.0), a.add(2, 5.0), a.close_row();
  auto on_device = a.on(this->device_);
  this->algebra_->settle_empty_rows(on_device, 1e-15, 7.0);
  EXPECT_EQ(download(on_device).values, (std::vector<double>{0.0, 7.0, 1.0, 5.0}));
}

TYPED_TEST(SparseAlgebraTest, InvertsWhatIsPositiveDefinite) {
  for (const LocalIndex n : {1, 5, 31, 64, 100, 333}) {
    HostCsr a;
    a.columns = n;
    for (LocalIndex i = 0; i < n; ++i) {
      if (i > 1) a.add(i - 2, -0.5);
      if (i > 0) a.add(i - 1, -1.0);
      a.add(i, 3.01);
      if (i + 1 < n) a.add(i + 1, -1.0);
      if (i + 2 < n) a.add(i + 2, -0.5);
      a.close_row();
    }
    const auto inverse = this->algebra_->inverse(a.on(this->device_).view(), 0.0, 1e-7);
    ASSERT_TRUE(inverse.has_value()) << n;
    const HostCsr found = download(*inverse);
    expect_ascending(found);
    const auto size = static_cast<std::size_t>(n);
    ASSERT_EQ(found.values.size(), size * size);
    const Dense identity = product_of(a.dense(), found.dense(), size);
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < size; ++j) {
        ASSERT_NEAR(identity[i][j], i == j ? 1.0 : 0.0, 1e-11) << n;
        ASSERT_EQ(found.values[i * size + j], found.values[j * size + i]);
      }
    }
    // Not what is singular, or indefinite, or has an eigenvalue that is called noise.
    EXPECT_FALSE(this->algebra_->inverse(a.on(this->device_).view(), 10.0, 0.0).has_value());
    a.values.back() = -3.0;
    EXPECT_FALSE(this->algebra_->inverse(a.on(this->device_).view(), 0.0, 1e-7).has_value());
  }
}

}  // namespace
}  // namespace block_eigs::test
