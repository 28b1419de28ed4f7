#pragma once

#include "spmm/cuda/spmm_plan.hpp"

namespace block_eigs::cuda {

/// The algorithm that the user asked for, or else the one that the rule expects to be faster for `columns` columns of
/// B with elements of `element_bytes`. The paper's rule is: merge-based where the mean row length is below 9.35.
inline SpmmAlgorithm choose_algorithm(const CudaSpmmPlan& plan, LocalIndex columns, std::size_t element_bytes) {
  if (plan.algorithm != SpmmAlgorithm::automatic) return plan.algorithm;
  static_cast<void>(columns);
  static_cast<void>(element_bytes);
  const RowStatistics& rows = plan.statistics;
  return static_cast<double>(rows.longest) > 16.0 * rows.mean + 64.0 || plan.bundles < 1024
             ? SpmmAlgorithm::merge
             : SpmmAlgorithm::row_split;
}

}  // namespace block_eigs::cuda
