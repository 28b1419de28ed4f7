#pragma once

#include <memory>

#include "spmm/device/device.hpp"
#include "spmm/device/kernels.hpp"
#include "spmm/device/profile.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/stop_request.hpp"
#include "spmm/parallel/transport.hpp"

namespace block_eigs {

/// What distributed objects work with: the ranks, this rank's device, its kernels, the clock, the way
/// from rank to rank, and whether to end early. A cheap handle; copies share everything.
template <class T>
struct Context {
  Communicator comm;
  std::shared_ptr<Device> device;
  std::shared_ptr<Kernels<T>> kernels;
  std::shared_ptr<Profile> profile;
  std::shared_ptr<Transport> transport;
  std::shared_ptr<StopRequest> stop = std::make_shared<StopRequest>();
};

/// Collective: fails on all ranks if one rank has no such device. `halo` as make_transport takes it.
template <class T>
Context<T> make_context(const Communicator& comm, Backend backend, HaloWay halo = HaloWay::automatic);
/// The same on the kept_device().
template <class T>
Context<T> kept_context(const Communicator& comm, Backend backend, HaloWay halo = HaloWay::automatic);

/// The same ranks, device, clock and transport for other values.
template <class U, class T>
Context<U> with_precision(const Context<T>& context) {
  return {context.comm,    context.device,    make_kernels<U>(context.device),
          context.profile, context.transport, context.stop};
}

}  // namespace block_eigs
