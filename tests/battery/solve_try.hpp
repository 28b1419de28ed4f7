#pragma once

#include <span>
#include <string>
#include <vector>

#include "apps/config/config.hpp"
#include "solver/report.hpp"
#include "solver/space/block_space.hpp"
#include "spmm/parallel/communicator.hpp"
#include "tests/battery/try.hpp"
#include "tests/support/all_rows.hpp"

namespace block_eigs::test {

/// What block-eigs would write, gathered on all ranks.
struct Answer {
  std::vector<double> values;
  std::vector<double> vectors;         ///< row-major, all rows x values.size()
  std::vector<double> residual_norms;  ///< as the program reports them
  std::vector<Outcome> outcomes;
  int iterations = 0;
  double seconds = 0.0;
  std::string remark;
};

/// The config of a try, with `overrides` as on the command line of block-eigs. Throws InputError.
RunConfig config_of(const Try& one, std::span<const std::string> overrides);

/// Goes the way of block-eigs, from reading the matrix to the final check. Collective; throws what it throws.
Answer solve_try(const Communicator& comm, const Try& one, const RunConfig& config);

/// The calling rank's rows of a block that all have, row-major.
template <class T>
DenseBlock<T> own_rows(BlockSpace<T>& space, const std::vector<double>& all, int cols) {
  std::vector<T> own;
  const auto first = static_cast<std::size_t>(space.first_row()) * static_cast<std::size_t>(cols);
  const auto count = static_cast<std::size_t>(space.local_rows()) * static_cast<std::size_t>(cols);
  for (std::size_t k = first; k < first + count; ++k) own.push_back(static_cast<T>(all[k]));
  DenseBlock<T> block = space.make_block(cols);
  block.from_host(own.data());
  return block;
}

}  // namespace block_eigs::test
