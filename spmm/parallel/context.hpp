#pragma once

#include <memory>

#include "spmm/device/device.hpp"
#include "spmm/device/kernels.hpp"
#include "spmm/device/profile.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// What distributed objects work with: the ranks, this rank's device, its kernels, and the clock.
/// A cheap handle; copies share everything.
template <class T>
struct Context {
  Communicator comm;
  std::shared_ptr<Device> device;
  std::shared_ptr<Kernels<T>> kernels;
  std::shared_ptr<Profile> profile;
};

/// Collective: fails on all ranks if one rank has no such device.
template <class T>
Context<T> make_context(const Communicator& comm, Backend backend);

/// The same ranks, device and clock for other values.
template <class U, class T>
Context<U> with_precision(const Context<T>& context) {
  return {context.comm, context.device, make_kernels<U>(context.device), context.profile};
}

}  // namespace block_eigs
