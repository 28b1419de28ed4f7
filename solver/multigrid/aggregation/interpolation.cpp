#include "solver/multigrid/aggregation/interpolation.hpp"

#include <cmath>

#include "solver/multigrid/damped_diagonal.hpp"

namespace block_eigs::aggregation {

namespace {

/// One row of P: blocks of `modes` entries for the few aggregates that it sees.
class RowOfBlocks {
 public:
  explicit RowOfBlocks(std::size_t modes) : modes_(modes) {}

  void add(double factor, GlobalIndex first_column, const double* values) {
    if (first_column < 0) return;
    std::size_t at = 0;
    while (at < columns_.size() && columns_[at] != first_column) ++at;
    if (at == columns_.size()) {
      columns_.push_back(first_column);
      values_.resize(values_.size() + modes_, 0.0);
    }
    for (std::size_t m = 0; m < modes_; ++m) values_[at * modes_ + m] += factor * values[m];
  }

  /// In ascending order; then it is empty again.
  void move_to(SparseRows<GlobalIndex>& out) {
    order_.resize(columns_.size());
    for (std::size_t b = 0; b < order_.size(); ++b) order_[b] = b;
    std::sort(order_.begin(), order_.end(),
              [&](std::size_t a, std::size_t b) { return columns_[a] < columns_[b]; });
    for (const std::size_t b : order_) {
      for (std::size_t m = 0; m < modes_; ++m) {
        out.columns.push_back(columns_[b] + static_cast<GlobalIndex>(m));
        out.values.push_back(values_[b * modes_ + m]);
      }
    }
    columns_.clear();
    values_.clear();
  }

 private:
  std::size_t modes_;
  std::vector<GlobalIndex> columns_;
  std::vector<double> values_;
  std::vector<std::size_t> order_;
};

}  // namespace

SparseRows<GlobalIndex> smoothed_interpolation(const CsrRows& a, const ColumnNumbers& numbers,
                                               const TentativeRows& tentative, double omega,
                                               const std::vector<char>& is_hub) {
  const std::size_t modes = tentative.modes;
  const LocalIndex per_node = is_hub.empty() ? 1 : a.rows() / static_cast<LocalIndex>(is_hub.size());
  const double expected = 2.5 * static_cast<double>(modes);
  return build_rows<GlobalIndex>(a.rows(), expected, [&] {
    return [&, row = RowOfBlocks(modes)](LocalIndex i, SparseRows<GlobalIndex>& out) mutable {
      const auto first = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i)]);
      const auto last = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i) + 1]);
      double diagonal = 0.0;
      double sum = 0.0;
      for (std::size_t k = first; k < last; ++k) {
        sum += std::abs(a.values[k]);
        if (a.columns[k] == a.row_begin + i) diagonal = a.values[k];
      }
      const double scale = sum > 0.0 ? -omega / damped_diagonal(diagonal, sum) : 0.0;
      const auto own = static_cast<std::size_t>(i);
      row.add(1.0, tentative.first_columns[own], tentative.values.data() + own * modes);
      const bool smoothed = is_hub[static_cast<std::size_t>(i / per_node)] == 0;
      for (std::size_t k = first; smoothed && k < last; ++k) {
        const auto j = static_cast<std::size_t>(numbers.local(a.columns[k]));
        row.add(scale * a.values[k], tentative.first_columns[j], tentative.values.data() + j * modes);
      }
      row.move_to(out);
    };
  });
}

}  // namespace block_eigs::aggregation
