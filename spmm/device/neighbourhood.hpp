#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "spmm/types.hpp"

namespace block_eigs {

/// The ranks that a matrix is dealt to, as a backend sees them that makes the calling rank's part of another one.
/// A part's columns are those of own rows, in their order, then ghosts: rows of other ranks. Nodes, of some
/// consecutive rows each, are numbered likewise. This class is for one rank alone, which has no ghosts; a derived
/// one knows the others, and then every member function but first_node() is collective.
class Neighbourhood {
 public:
  Neighbourhood() = default;
  Neighbourhood(const Neighbourhood&) = delete;
  Neighbourhood& operator=(const Neighbourhood&) = delete;
  virtual ~Neighbourhood() = default;

  virtual bool has_others() const { return false; }
  /// The number over all ranks of own node 0.
  virtual GlobalIndex first_node() const { return 0; }
  /// `values` in device memory, one for every own node and then one for every ghost: the ghosts' become those that
  /// their owners have. Ordered in Queue::compute.
  virtual void refresh(std::int64_t* values) { static_cast<void>(values); }
  virtual void refresh(double* values) { static_cast<void>(values); }

  /// Element-wise over all ranks, in place.
  virtual void raise_to_largest(std::span<double> values) { static_cast<void>(values); }
  virtual void add_up(std::span<std::int64_t> values) { static_cast<void>(values); }
  virtual bool any(bool value) { return value; }
  /// Sum of the counts of the ranks before this one.
  virtual GlobalIndex sum_before(LocalIndex count) { return static_cast<void>(count), 0; }
  /// Runs a step that may fail on one rank alone, and then fails on all.
  virtual void collectively(const std::function<void()>& step) { step(); }
};

}  // namespace block_eigs
