#include "solver/factors/triangle.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace block_eigs::factors {

namespace {

/// What is left of a row, column by column.
class RowCursor {
 public:
  static constexpr GlobalIndex no_column = std::numeric_limits<GlobalIndex>::max();

  /// Of row i from its diagonal on.
  RowCursor(const CsrRows& rows, std::size_t i)
      : rows_(rows), next_(rows.row_offsets[i]), end_(rows.row_offsets[i + 1]) {
    const auto first = rows.columns.begin() + next_;
    next_ +=
        std::lower_bound(first, rows.columns.begin() + end_, rows.row_begin + static_cast<GlobalIndex>(i)) - first;
  }

  GlobalIndex column() const { return next_ < end_ ? rows_.columns[static_cast<std::size_t>(next_)] : no_column; }
  /// The value in `column`, which is gone past; 0 where nothing is stored.
  double take(GlobalIndex column) {
    if (this->column() != column) return 0.0;
    return rows_.values[static_cast<std::size_t>(next_++)];
  }

 private:
  const CsrRows& rows_;
  Offset next_;
  Offset end_;
};

/// Calls put(row, column, a, b) for the places of the triangle, in order; `b` of a null B is that of the identity.
template <class Put>
void for_each_place(const CsrRows& a, const CsrRows* b, const Put& put) {
  for (std::size_t i = 0; i + 1 < a.row_offsets.size(); ++i) {
    const GlobalIndex row = a.row_begin + static_cast<GlobalIndex>(i);
    RowCursor of_a(a, i);
    if (b == nullptr) {
      put(row, row, of_a.take(row), 1.0);
      for (GlobalIndex column = of_a.column(); column != RowCursor::no_column; column = of_a.column())
        put(row, column, of_a.take(column), 0.0);
      continue;
    }
    RowCursor of_b(*b, i);
    for (GlobalIndex column = row; column != RowCursor::no_column;
         column = std::min(of_a.column(), of_b.column())) {
      const double value = of_a.take(column);
      put(row, column, value, of_b.take(column));
    }
  }
}

}  // namespace

std::int64_t triangle_size(const CsrRows& a, const CsrRows* b) {
  std::int64_t count = 0;
  for_each_place(a, b, [&](GlobalIndex, GlobalIndex, double, double) { ++count; });
  return count;
}

Triangle shifted_triangle(const CsrRows& a, const CsrRows* b, double sigma) {
  Triangle triangle;
  const auto count = static_cast<std::size_t>(triangle_size(a, b));
  triangle.rows.reserve(count);
  triangle.columns.reserve(count);
  triangle.values.reserve(count);
  for_each_place(a, b, [&](GlobalIndex row, GlobalIndex column, double of_a, double of_b) {
    triangle.rows.push_back(static_cast<int>(row + 1));
    triangle.columns.push_back(static_cast<int>(column + 1));
    triangle.values.push_back(of_a - sigma * of_b);
  });
  return triangle;
}

}  // namespace block_eigs::factors
