#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/source/matrix_source.hpp"

namespace block_eigs {

/// Sets the rows of `partition` that the calling rank owns; `out` comes with its shape and no rows. Where
/// `collective` is false below, the rule may fail on one rank alone (memory) and must not communicate.
using RowsRule = std::function<void(const Partition& partition, int rank, CsrRows& out)>;

struct GeneratedShape {
  GlobalIndex rows = 0;
  std::string description;
  bool collective = false;  ///< the rule communicates
};

/// A square matrix that `rule` makes.
std::unique_ptr<MatrixSource> generated_matrix(const Communicator& comm, GeneratedShape shape, RowsRule rule);

/// The product of positive sizes; throws InputError that begins with `generator` where the number of entries
/// is not `dimensions`, one is not positive, or the product times `unknowns` exceeds 2^60.
GlobalIndex grid_rows(const std::string& generator, const std::vector<GlobalIndex>& size, int dimensions,
                      int unknowns = 1);

/// "4 x 5 x 6"
std::string shape_text(const std::vector<GlobalIndex>& size);

}  // namespace block_eigs
