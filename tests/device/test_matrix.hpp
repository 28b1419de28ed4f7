#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "tests/device/reference.hpp"

namespace block_eigs::test {

/// Sparse matrix in host memory and on a device.
template <class T>
class TestMatrix {
 public:
  /// Row i gets row_length(i) nonzeros at random columns.
  TestMatrix(Random& random, LocalIndex rows, LocalIndex columns,
             const std::function<LocalIndex(LocalIndex)>& row_length)
      : columns_(columns), row_offsets_{0} {
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    for (LocalIndex i = 0; i < rows; ++i) {
      const std::vector<LocalIndex> chosen = choose(random, columns, std::min(row_length(i), columns));
      column_indices_.insert(column_indices_.end(), chosen.begin(), chosen.end());
      row_offsets_.push_back(static_cast<Offset>(column_indices_.size()));
    }
    for (std::size_t k = 0; k < column_indices_.size(); ++k) values_.push_back(static_cast<T>(uniform(random)));
  }

  /// Row i belongs to row row_map[i] of the result.
  void set_row_map(std::vector<LocalIndex> row_map) { row_map_ = std::move(row_map); }

  void upload_to(const std::shared_ptr<Device>& device, Kernels<T>& kernels, SpmmAlgorithm algorithm) {
    offsets_there_ = upload(device, row_offsets_);
    columns_there_ = upload(device, column_indices_);
    values_there_ = upload(device, values_);
    map_there_ = upload(device, row_map_);
    there_ = {
        rows(),           columns_, nonzeros(), offsets_there_.data(), columns_there_.data(), values_there_.data(),
        map_there_.data()};
    plan_ = kernels.analyse(there_, {algorithm});
  }

  LocalIndex rows() const { return static_cast<LocalIndex>(row_offsets_.size()) - 1; }
  LocalIndex columns() const { return columns_; }
  Offset nonzeros() const { return row_offsets_.back(); }
  LocalIndex result_row(LocalIndex i) const {
    return row_map_.empty() ? i : row_map_[static_cast<std::size_t>(i)];
  }
  const CsrView<T>& there() const { return there_; }
  SpmmPlan& plan() { return *plan_; }

  /// (A b)(i, j), starting from `start`.
  Sum product(const HostBlock<T>& b, LocalIndex i, LocalIndex j, double start) const {
    Sum sum;
    sum.add(start);
    const auto row = static_cast<std::size_t>(i);
    for (auto k = static_cast<std::size_t>(row_offsets_[row]); k < static_cast<std::size_t>(row_offsets_[row + 1]);
         ++k) {
      sum.add(static_cast<double>(values_[k]) * static_cast<double>(b(column_indices_[k], j)));
    }
    return sum;
  }

  Offset row_nonzeros(LocalIndex i) const {
    return row_offsets_[static_cast<std::size_t>(i) + 1] - row_offsets_[static_cast<std::size_t>(i)];
  }

 private:
  /// `count` columns of 0 .. columns - 1, ascending (selection sampling).
  static std::vector<LocalIndex> choose(Random& random, LocalIndex columns, LocalIndex count) {
    std::vector<LocalIndex> chosen;
    if (count * 8 < columns) {
      while (static_cast<LocalIndex>(chosen.size()) < count) {
        const LocalIndex column = pick(random, 0, columns - 1);
        const auto at = std::lower_bound(chosen.begin(), chosen.end(), column);
        if (at == chosen.end() || *at != column) chosen.insert(at, column);
      }
      return chosen;
    }
    for (LocalIndex column = 0; column < columns; ++column) {
      const LocalIndex needed = count - static_cast<LocalIndex>(chosen.size());
      if (pick(random, 0, columns - column - 1) < needed) chosen.push_back(column);
    }
    return chosen;
  }

  LocalIndex columns_;
  std::vector<Offset> row_offsets_;
  std::vector<LocalIndex> column_indices_;
  std::vector<T> values_;
  std::vector<LocalIndex> row_map_;
  Buffer<Offset> offsets_there_;
  Buffer<LocalIndex> columns_there_;
  Buffer<T> values_there_;
  Buffer<LocalIndex> map_there_;
  CsrView<T> there_;
  std::unique_ptr<SpmmPlan> plan_;
};

}  // namespace block_eigs::test
