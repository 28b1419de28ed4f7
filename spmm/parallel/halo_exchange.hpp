#pragma once

#include <memory>

#include "spmm/parallel/context.hpp"
#include "spmm/parallel/halo_plan.hpp"
#include "spmm/types.hpp"

namespace block_eigs {

/// Moves the halo of a block: begin, work on own rows, finish. One exchange at a time per object.
template <class T>
class HaloExchange {
 public:
  HaloExchange() = default;
  HaloExchange(const HaloExchange&) = delete;
  HaloExchange& operator=(const HaloExchange&) = delete;
  virtual ~HaloExchange() = default;

  /// Packs and sends the rows of x that others need. x must stay unchanged until `finish`. Collective
  /// among neighbours, with `finish`.
  virtual void begin(ConstBlockView<T> x) = 0;
  /// Moves messages along; call it now and then while own work goes on.
  virtual void progress() = 0;
  /// The ghost rows, in device memory, ready for the compute queue; valid until the next `begin`.
  virtual ConstBlockView<T> finish() = 0;
};

/// Through page-locked host memory and nonblocking MPI point-to-point messages.
template <class T>
std::unique_ptr<HaloExchange<T>> make_halo_exchange(const Context<T>& context, HaloPlan plan);

}  // namespace block_eigs
