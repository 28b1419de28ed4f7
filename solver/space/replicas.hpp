#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// What every rank computes for itself from the same numbers and must come to the same bits of: decisions depend
/// on it, and ranks with different ones would wait for each other for ever. Sixteen bits of it travel with every
/// sum.
class Replicas {
 public:
  /// Whether all ranks have processors of one type, as many threads for BLAS, and LAPACK gives the same bits on
  /// them for a few small problems. (Memory is aligned alike, see AlignedAllocator: nothing else is left that a
  /// library may make its order of sums depend on.) Collective.
  static bool possible(const Communicator& comm);

  void add(std::span<const double> results);
  /// Two more numbers, from whose sums check() tells.
  void append_to(std::vector<double>& parts) const;
  /// Takes these sums off again. Throws RunError on all ranks where ranks differ.
  void check(const Communicator& comm, std::vector<double>& sums) const;

 private:
  std::uint64_t digest_ = 14695981039346656037u;
};

}  // namespace block_eigs
