#pragma once

#include <memory>

#include "spmm/device/buffer.hpp"
#include "spmm/parallel/context.hpp"
#include "spmm/parallel/halo_plan.hpp"
#include "spmm/types.hpp"

namespace block_eigs {

/// Packs the rows of a block that neighbours need and hands them to the context's transport: begin, work on own
/// rows, finish. One exchange at a time per object.
template <class T>
class HaloExchange {
 public:
  HaloExchange(const Context<T>& context, HaloPlan plan);

  /// Makes room for blocks of up to `columns` columns. Collective; throws on all ranks where one has no memory.
  void reserve(LocalIndex columns) { channel_->reserve(row_bytes(columns)); }

  /// Packs and sends the rows of x that others need. x must stay unchanged until `finish`. Collective
  /// among neighbours, with `finish`.
  void begin(ConstBlockView<T> x);
  /// Moves messages along; call it now and then while own work goes on.
  void progress() { channel_->progress(); }
  /// The ghost rows, in device memory, ready for the compute queue; valid until the next `begin`.
  ConstBlockView<T> finish();

  /// Ends an exchange between whose begin and finish an exception has come, see Channel::give_up.
  void give_up() noexcept { channel_->give_up(); }

 private:
  static std::size_t row_bytes(LocalIndex columns) { return static_cast<std::size_t>(columns) * sizeof(T); }

  std::shared_ptr<Kernels<T>> kernels_;
  std::shared_ptr<Profile> profile_;
  std::shared_ptr<const HaloPlan> plan_;
  Buffer<LocalIndex> rows_to_send_;
  std::unique_ptr<Channel> channel_;
  LocalIndex cols_ = 0;
};

/// Not collective.
template <class T>
std::unique_ptr<HaloExchange<T>> make_halo_exchange(const Context<T>& context, HaloPlan plan) {
  return std::make_unique<HaloExchange<T>>(context, std::move(plan));
}

}  // namespace block_eigs
