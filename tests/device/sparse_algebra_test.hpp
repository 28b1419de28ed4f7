#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "spmm/device/sparse_algebra.hpp"
#include "tests/device/device_test.hpp"

namespace block_eigs::test {

/// A sparse matrix in host memory, and its way to a device and back.
struct HostCsr {
  LocalIndex columns = 0;
  std::vector<Offset> offsets{0};
  std::vector<LocalIndex> indices;
  std::vector<double> values;

  LocalIndex rows() const { return static_cast<LocalIndex>(offsets.size()) - 1; }
  void add(LocalIndex column, double value) {
    indices.push_back(column);
    values.push_back(value);
  }
  void close_row() { offsets.push_back(static_cast<Offset>(indices.size())); }

  std::vector<std::vector<double>> dense() const {
    std::vector<std::vector<double>> result(static_cast<std::size_t>(rows()),
                                            std::vector<double>(static_cast<std::size_t>(columns), 0.0));
    for (std::size_t i = 0; i < result.size(); ++i) {
      for (auto k = static_cast<std::size_t>(offsets[i]); k < static_cast<std::size_t>(offsets[i + 1]); ++k)
        result[i][static_cast<std::size_t>(indices[k])] = values[k];
    }
    return result;
  }

  CsrBuffers<double> on(const std::shared_ptr<Device>& device) const {
    auto pattern = std::make_shared<CsrPattern>();
    pattern->rows = rows();
    pattern->columns = columns;
    pattern->nonzeros = offsets.back();
    pattern->row_offsets = upload(device, offsets);
    pattern->column_indices = upload(device, indices);
    return {std::move(pattern), upload(device, values)};
  }

  bool operator==(const HostCsr&) const = default;
};

template <class T>
std::vector<T> download(const Buffer<T>& buffer) {
  std::vector<T> result(buffer.size());
  buffer.download(result.data());
  return result;
}

inline HostCsr download(const CsrBuffers<double>& matrix) {
  return {matrix.pattern->columns, download(matrix.pattern->row_offsets), download(matrix.pattern->column_indices),
          download(matrix.values)};
}

/// Row i has about length(i) random entries.
inline HostCsr random_matrix(Random& random, LocalIndex rows, LocalIndex columns,
                             const std::function<LocalIndex(LocalIndex)>& length) {
  HostCsr result;
  result.columns = columns;
  std::uniform_real_distribution<double> value(-1.0, 1.0);
  std::vector<LocalIndex> row;
  for (LocalIndex i = 0; i < rows; ++i) {
    row.clear();
    for (LocalIndex k = 0; k < std::min(length(i), columns); ++k) row.push_back(pick(random, 0, columns - 1));
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    for (const LocalIndex column : row) result.add(column, value(random));
    result.close_row();
  }
  return result;
}

/// The Laplacian of a random graph with `hubs` nodes of many neighbours, its weights between 0.1 and 1, plus
/// `diagonal`; `unknowns` > 1 makes dense blocks of its entries. Every twentieth node is coupled to nothing.
inline HostCsr graph_laplacian(Random& random, LocalIndex nodes, LocalIndex degree, LocalIndex hubs,
                               LocalIndex unknowns = 1) {
  std::vector<std::vector<std::pair<LocalIndex, double>>> rows(static_cast<std::size_t>(nodes));
  std::uniform_real_distribution<double> weight(0.1, 1.0);
  const auto lonely = [](LocalIndex i) { return i % 20 == 7; };
  for (LocalIndex i = 0; i < nodes; ++i) {
    for (LocalIndex k = 0; !lonely(i) && k < (i < hubs ? nodes / 3 : degree / 2); ++k) {
      const LocalIndex j =
          i < hubs ? pick(random, 0, nodes - 1) : std::clamp(i + pick(random, -9, 9), 0, nodes - 1);
      if (j == i || lonely(j)) continue;
      const double w = -weight(random);
      rows[static_cast<std::size_t>(i)].emplace_back(j, w);
      rows[static_cast<std::size_t>(j)].emplace_back(i, w);
    }
  }
  HostCsr result;
  result.columns = nodes * unknowns;
  for (LocalIndex i = 0; i < nodes; ++i) {
    auto& row = rows[static_cast<std::size_t>(i)];
    double sum = 0.1;
    for (const auto& entry : row) sum -= entry.second;
    row.emplace_back(i, sum);
    std::sort(row.begin(), row.end());  // of two couplings of a pair the same one in both rows
    for (LocalIndex u = 0; u < unknowns; ++u) {
      for (std::size_t k = 0; k < row.size(); ++k) {
        if (k > 0 && row[k].first == row[k - 1].first) continue;
        for (LocalIndex v = 0; v < unknowns; ++v)
          result.add(row[k].first * unknowns + v, row[k].second * (u == v ? 1.0 : 0.2));
      }
      result.close_row();
    }
  }
  return result;
}

using Dense = std::vector<std::vector<double>>;

inline Dense product_of(const Dense& a, const Dense& b, std::size_t columns) {
  Dense c(a.size(), std::vector<double>(columns, 0.0));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t k = 0; k < b.size(); ++k) {
      for (std::size_t j = 0; j < columns; ++j) c[i][j] += a[i][k] * b[k][j];
    }
  }
  return c;
}

inline void expect_ascending(const HostCsr& a) {
  for (std::size_t i = 0; i + 1 < a.offsets.size(); ++i) {
    for (auto k = static_cast<std::size_t>(a.offsets[i]) + 1; k < static_cast<std::size_t>(a.offsets[i + 1]); ++k)
      ASSERT_LT(a.indices[k - 1], a.indices[k]) << "row " << i;
  }
}

template <class Param>
class SparseAlgebraTest : public DeviceTest<Param> {
 protected:
  void SetUp() override {
    DeviceTest<Param>::SetUp();
    if (!this->IsSkipped()) algebra_ = make_sparse_algebra(this->device_);
  }

  void expect_product(const HostCsr& a, const HostCsr& b) {
    const auto c = algebra_->product(a.on(this->device_).view(), b.on(this->device_).view());
    ASSERT_TRUE(c.has_value());
    const HostCsr found = download(*c);
    expect_ascending(found);
    EXPECT_EQ(found.rows(), a.rows());
    EXPECT_EQ(found.columns, b.columns);
    const Dense expected = product_of(a.dense(), b.dense(), static_cast<std::size_t>(b.columns));
    const Dense dense = found.dense();
    std::size_t nonzeros = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      for (std::size_t j = 0; j < expected[i].size(); ++j) {
        ASSERT_NEAR(dense[i][j], expected[i][j], 1e-13) << i << ", " << j;
        nonzeros += expected[i][j] != 0.0 ? 1 : 0;
      }
    }
    // Random values do not cancel.
    EXPECT_EQ(found.values.size(), nonzeros);
  }

  std::shared_ptr<SparseAlgebra> algebra_;
};

using BothBackends = ::testing::Types<OnBackend<double, Backend::host>, OnBackend<double, Backend::cuda>>;

}  // namespace block_eigs::test
