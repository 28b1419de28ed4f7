#pragma once

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

}  // namespace block_eigs::cuda
