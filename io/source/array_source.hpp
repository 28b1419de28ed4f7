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

  /// Whether the calling thread can read this range by itself, with no other rank, so that several threads may
  /// read arrays of one file side by side by read_alone(). The same on all ranks.
  virtual bool is_read_alone(Offset first, Offset count) const {
    static_cast<void>(first), static_cast<void>(count);
    return false;
  }
  /// As read(), where is_read_alone() says so. Not collective.
  virtual void read_alone(Offset first, Offset count, std::int64_t* out) { read(first, count, out); }
  virtual void read_alone(Offset first, Offset count, double* out) { read(first, count, out); }
};

}  // namespace block_eigs
