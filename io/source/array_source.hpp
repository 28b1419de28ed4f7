#pragma once

#include <cstdint>
#include <string>

#include "spmm/types.hpp"

namespace block_eigs {

/// One-dimensional array in a file, of any width and byte order, that ranks read by ranges.
class ArraySource {
 public:
  ArraySource() = default;
  ArraySource(const ArraySource&) = delete;
  ArraySource& operator=(const ArraySource&) = delete;
  virtual ~ArraySource() = default;

  virtual Offset size() const = 0;
  /// For error messages: "/data/thermal2.h5:/A/indices".
  virtual const std::string& name() const = 0;

  /// Elements [first, first + count) of the calling rank, which may be none. The ranges ascend with the rank and
  /// overlap by at most one element. Collective; throws InputError on all ranks when one cannot read.
  virtual void read(Offset first, Offset count, std::int64_t* out) = 0;
  virtual void read(Offset first, Offset count, double* out) = 0;
};

}  // namespace block_eigs
