#include "solver/multigrid/aggregation/galerkin.hpp"

namespace block_eigs::aggregation {

namespace {

/// Sum of sparse rows: a place for every column, of which a few are taken.
class SparseSum {
 public:
  explicit SparseSum(LocalIndex columns)
      : sums_(static_cast<std::size_t>(columns)), taken_(static_cast<std::size_t>(columns), 0) {}

  void add(LocalIndex column, double value) {
    const auto at = static_cast<std::size_t>(column);
    if (taken_[at] == 0) {
      taken_[at] = 1;
      columns_.push_back(column);
      sums_[at] = value;
    } else {
      sums_[at] += value;
    }
  }
  /// The columns in the order in which they came, for the caller to sort.
  std::vector<LocalIndex>& columns() { return columns_; }
  double value(LocalIndex column) const { return sums_[static_cast<std::size_t>(column)]; }
  void clear() {
    for (const LocalIndex column : columns_) taken_[static_cast<std::size_t>(column)] = 0;
    columns_.clear();
  }

 private:
  std::vector<double> sums_;
  std::vector<char> taken_;
  std::vector<LocalIndex> columns_;
};

/// A P, columns in no order.
SparseRows<LocalIndex> product(const CsrRows& a, const ColumnNumbers& fine, const SparseRows<LocalIndex>& p,
                               LocalIndex columns) {
  const double expected = a.rows() > 0 ? 3.0 * static_cast<double>(p.columns.size()) / a.rows() : 0.0;
  return build_rows<LocalIndex>(a.rows(), expected, [&] {
    return [&, sum = SparseSum(columns)](LocalIndex i, SparseRows<LocalIndex>& out) mutable {
      const auto last = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i) + 1]);
      for (auto k = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i)]); k < last; ++k) {
        const LocalIndex j = fine.local(a.columns[k]);
        for (std::size_t l = p.begin(j); l < p.end(j); ++l) sum.add(p.columns[l], a.values[k] * p.values[l]);
      }
      for (const LocalIndex column : sum.columns()) {
        out.columns.push_back(column);
        out.values.push_back(sum.value(column));
      }
      sum.clear();
    };
  });
}

/// The transpose of the first `rows` rows of p.
SparseRows<LocalIndex> transposed(const SparseRows<LocalIndex>& p, LocalIndex rows, LocalIndex columns) {
  SparseRows<LocalIndex> result;
  const auto entries = static_cast<std::size_t>(p.offsets[static_cast<std::size_t>(rows)]);
  result.offsets.assign(static_cast<std::size_t>(columns) + 1, 0);
  for (std::size_t k = 0; k < entries; ++k) ++result.offsets[static_cast<std::size_t>(p.columns[k]) + 1];
  for (std::size_t c = 1; c < result.offsets.size(); ++c) result.offsets[c] += result.offsets[c - 1];
  result.columns.resize(entries);
  result.values.resize(entries);
  std::vector<Offset> next(result.offsets.begin(), result.offsets.end() - 1);
  for (LocalIndex i = 0; i < rows; ++i) {
    for (std::size_t k = p.begin(i); k < p.end(i); ++k) {
      const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(p.columns[k])]++);
      result.columns[at] = i;
      result.values[at] = p.values[k];
    }
  }
  return result;
}

/// R (A P), columns global and ascending.
SparseRows<GlobalIndex> coarse_rows(const SparseRows<LocalIndex>& r, const SparseRows<LocalIndex>& ap,
                                    const ColumnNumbers& coarse) {
  return build_rows<GlobalIndex>(r.rows(), 30.0, [&] {
    return [&, sum = SparseSum(coarse.all())](LocalIndex c, SparseRows<GlobalIndex>& out) mutable {
      for (std::size_t k = r.begin(c); k < r.end(c); ++k) {
        const LocalIndex i = r.columns[k];
        for (std::size_t l = ap.begin(i); l < ap.end(i); ++l) sum.add(ap.columns[l], r.values[k] * ap.values[l]);
      }
      std::vector<LocalIndex>& columns = sum.columns();
      std::sort(columns.begin(), columns.end(),
                [&](LocalIndex x, LocalIndex y) { return coarse.global(x) < coarse.global(y); });
      for (const LocalIndex column : columns) {
        out.columns.push_back(coarse.global(column));
        out.values.push_back(sum.value(column));
      }
      sum.clear();
    };
  });
}

}  // namespace

GalerkinPart galerkin_part(const CsrRows& a, const ColumnNumbers& fine, const SparseRows<LocalIndex>& p,
                           const ColumnNumbers& coarse) {
  SparseRows<LocalIndex> r = transposed(p, fine.own(), coarse.all());
  GalerkinPart part;
  part.matrix = coarse_rows(r, product(a, fine, p, coarse.all()), coarse);
  part.restriction.offsets = std::move(r.offsets);
  part.restriction.values.assign(r.values.begin(), r.values.end());
  part.restriction.columns.resize(r.columns.size());
  std::transform(r.columns.begin(), r.columns.end(), part.restriction.columns.begin(),
                 [&](LocalIndex i) { return a.row_begin + i; });
  return part;
}

}  // namespace block_eigs::aggregation
