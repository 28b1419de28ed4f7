#pragma once

#include <cstddef>

#include "spmm/types.hpp"

namespace block_eigs {

/// What a probe works on, as far as its memory goes.
struct ProbeShape {
  LocalIndex rows = 0;         ///< own ones
  LocalIndex found = 0;        ///< vectors
  LocalIndex constraints = 0;  ///< vectors
  bool with_mass = false;      ///< B is not the identity
  bool preconditioned = false;
  bool in_float = false;  ///< its filter: see probes_in_float
};

/// Columns that a probe applies operators to at most.
template <class T>
LocalIndex widest_of_probe(bool in_float);

/// Bytes of the blocks that probe() makes, at its peak, beside the work space of operators and what it is given.
template <class T>
std::size_t probe_bytes(const ProbeShape& shape);

}  // namespace block_eigs
