#pragma once

#include <algorithm>

#include "spmm/cuda/sparse/spmm_plan.hpp"

namespace block_eigs::cuda {

/// The algorithm that the user asked for, or else the one that the rule expects to be faster. The paper's rule is:
/// merge-based where the mean row length is below 9.35. Here short rows are no reason for it, since both
/// algorithms give several rows to a warp; merge-based pays where one row takes a group of lanes longer than the
/// whole product takes all of them. That is so where the longest row is a sizeable part of a multiprocessor's
/// share of the work, and either much longer than the mean or long by itself, when there are too few rows for all
/// warps. The number of columns of B makes rows and work longer alike, so that it does not enter.
inline SpmmAlgorithm choose_algorithm(const CudaSpmmPlan& plan) {
  if (plan.algorithm != SpmmAlgorithm::automatic) return plan.algorithm;
  constexpr double sizeable_part = 0.1, much_longer = 8.0, long_by_itself = 2048.0;
  const RowStatistics& rows = plan.statistics;
  const double longest = static_cast<double>(rows.longest);
  const double share = static_cast<double>(rows.columns_total) / plan.multiprocessors;
  const bool stands_out = longest > much_longer * rows.mean || longest >= long_by_itself;
  return longest > sizeable_part * share && stands_out ? SpmmAlgorithm::merge : SpmmAlgorithm::row_split;
}

/// Packs, of 16 bytes, of rows of B that a pass over A works on at most: `limit`, of thick bundles 16, so that
/// shared memory holds what many slices leave behind.
inline int most_packs_in_a_pass(const CudaSpmmPlan& plan, int limit) {
  constexpr int thick = 16;
  return plan.thick && choose_algorithm(plan) == SpmmAlgorithm::merge ? std::min(thick, limit) : limit;
}

constexpr int packs_of_line = 8;
/// Whether passes take a line of each row of B: where neighbouring rows of A have columns far apart, and B, of so
/// many rows and bytes, of `packs` packs a row, is larger than L2. Rows of B come from memory then, in lines: one
/// at a time takes 0.92 of the time (uniform-1M-16 at 32 and 64 columns in double, 64 in float), elsewhere up to
/// 1.5 times as long.
inline bool works_in_lines(const CudaSpmmPlan& plan, double bytes_of_b, double bytes_of_l2, double rows_of_b,
                           int packs) {
  constexpr double far_apart = 1.0 / 64.0;  // of all rows of B
  const bool from_memory = bytes_of_b >= 2.0 * bytes_of_l2 && plan.statistics.apart >= far_apart * rows_of_b;
  return packs >= 2 * packs_of_line && from_memory && !plan.bundled &&
         choose_algorithm(plan) == SpmmAlgorithm::row_split;
}

/// Mean length from which on each of few rows has a warp of its own.
constexpr double least_mean_of_warps = 16.0;

/// Passes over A that a product of `packs` packs is dealt to, 1, 2 or 4, where so few rows have a warp each that
/// multiprocessors wait for memory: the rows again, for other columns of B. Trefethen_2000 takes 7.1 for 7.6 us at
/// 64 columns in double, 500 random rows of 100 nonzeros 7.2 for 10.8; more passes than this are slower (H200).
inline int passes_for_few_rows(const CudaSpmmPlan& plan, int packs) {
  constexpr int least_packs = 6;
  constexpr double warps = 16.0, warps_without_idle_lanes = 32.0;  // a multiprocessor
  if (plan.bundled || plan.strips || plan.statistics.mean < least_mean_of_warps ||
      choose_algorithm(plan) != SpmmAlgorithm::row_split)
    return 1;
  int passes = 1;
  for (const int more : {2, 4}) {
    const int each = (packs + more - 1) / more;
    const double most = each == 8 || each == 16 ? warps_without_idle_lanes : warps;
    const double rows = static_cast<double>(plan.statistics.rows);
    if (each >= least_packs && more * rows <= most * plan.multiprocessors) passes = more;
  }
  return passes;
}

}  // namespace block_eigs::cuda
