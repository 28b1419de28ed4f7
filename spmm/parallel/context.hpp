#pragma once

#include <future>
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

/// This rank's device on its way, made by a thread of its own: the driver of a GPU takes most of a second, in
/// which files can be read. That thread calls no MPI. On the host there is nothing to wait for.
class DeviceStart {
 public:
  /// Collective.
  DeviceStart(const Communicator& comm, Backend backend);
  /// Whether it is a GPU whose driver has more to do, so that there is time for something else. Not collective,
  /// nor the same on all ranks.
  bool takes_time() const;
  /// Waits for it; once. Throws what make_device throws. Not collective.
  std::shared_ptr<Device> get();

 private:
  std::future<std::shared_ptr<Device>> device_;
};

/// Collective: fails on all ranks if one rank has no such device. `halo` as make_transport takes it.
template <class T>
Context<T> make_context(const Communicator& comm, Backend backend, HaloWay halo = HaloWay::automatic);
/// The same on a device that was begun earlier.
template <class T>
Context<T> make_context(const Communicator& comm, DeviceStart& start, HaloWay halo = HaloWay::automatic);
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
