#include "solver/multigrid/aggregation/fill.hpp"

#include <numeric>

namespace block_eigs::aggregation {

namespace {

/// Rows in the sample: few enough that counting them is little work beside the product, on small levels too.
LocalIndex sample_size(LocalIndex rows) { return std::clamp<LocalIndex>(rows / 64, 8, 64); }

/// Blocks of columns.
struct Range {
  LocalIndex begin;
  LocalIndex end;
};

/// First rows of the own blocks of fine rows that every stride-th block of columns of p has entries in.
SparseRows<LocalIndex> sampled_columns(const SparseRows<LocalIndex>& p, const ColumnNumbers& fine,
                                       const ColumnNumbers& coarse, const BlockSize& block, const Range& range) {
  const LocalIndex rows = range.end - range.begin;
  const LocalIndex stride = std::max<LocalIndex>(1, rows / sample_size(rows));
  std::vector<std::vector<std::vector<LocalIndex>>> found(static_cast<std::size_t>(omp_get_max_threads()));
  const LocalIndex nodes = fine.own() / block.rows;
  // Of a column, its place in the sample or -1: columns are many more than a division is cheap.
  std::vector<LocalIndex> place(static_cast<std::size_t>(coarse.all()), -1);
  LocalIndex samples = 0;
  for (LocalIndex b = range.begin; b < range.end; b += stride)
    place[static_cast<std::size_t>(b) * block.columns] = samples++;
  on_threads([&](int part, int parts) {
    auto& rows_of = found[static_cast<std::size_t>(part)];
    rows_of.resize(static_cast<std::size_t>(samples));
    for (LocalIndex node = part_begin(nodes, part, parts); node < part_begin(nodes, part + 1, parts); ++node) {
      const LocalIndex i = node * block.rows;
      for (std::size_t k = p.begin(i); k < p.end(i); k += block.columns) {
        const LocalIndex sample = place[static_cast<std::size_t>(p.columns[k])];
        if (sample >= 0) rows_of[static_cast<std::size_t>(sample)].push_back(i);
      }
    }
  });
  SparseRows<LocalIndex> result;
  for (std::size_t s = 0; s < static_cast<std::size_t>(samples); ++s) {
    for (const auto& rows_of : found)
      result.columns.insert(result.columns.end(), rows_of[s].begin(), rows_of[s].end());
    result.close_row();
  }
  return result;
}

/// Of the rows in `range`.
double estimated_entries(const CsrRows& a, const ColumnNumbers& fine, const SparseRows<LocalIndex>& p,
                         const ColumnNumbers& coarse, const BlockSize& block, const Range& range) {
  const SparseRows<LocalIndex> sample = sampled_columns(p, fine, coarse, block, range);
  if (sample.rows() == 0) return 0.0;
  std::vector<double> counts(static_cast<std::size_t>(omp_get_max_threads()), 0.0);
  on_threads([&](int part, int parts) {
    std::vector<LocalIndex> seen_by(static_cast<std::size_t>(coarse.all()), -1);
    double count = 0.0;
    for (LocalIndex s = part; s < sample.rows(); s += parts) {
      for (std::size_t r = sample.begin(s); r < sample.end(s); ++r) {
        const auto row = static_cast<std::size_t>(sample.columns[r]);
        for (auto k = static_cast<std::size_t>(a.row_offsets[row]);
             k < static_cast<std::size_t>(a.row_offsets[row + 1]); ++k) {
          if (a.columns[k] % block.rows != 0) continue;
          const LocalIndex j = fine.local(a.columns[k]);
          for (std::size_t l = p.begin(j); l < p.end(j); l += block.columns) {
            LocalIndex& seen = seen_by[static_cast<std::size_t>(p.columns[l])];
            if (seen != s) count += 1.0;
            seen = s;
          }
        }
      }
    }
    counts[static_cast<std::size_t>(part)] = count;
  });
  const auto block_entries = static_cast<double>(block.columns * block.columns);
  return std::accumulate(counts.begin(), counts.end(), 0.0) * block_entries * (range.end - range.begin) /
         sample.rows();
}

}  // namespace

Fill estimated_fill(const CsrRows& a, const ColumnNumbers& fine, const SparseRows<LocalIndex>& p,
                    const ColumnNumbers& coarse, const BlockSize& block) {
  const auto width = static_cast<LocalIndex>(block.columns);
  const LocalIndex own = coarse.own() / width;
  return {estimated_entries(a, fine, p, coarse, block, {0, own}),
          estimated_entries(a, fine, p, coarse, block, {own, coarse.all() / width})};
}

}  // namespace block_eigs::aggregation
