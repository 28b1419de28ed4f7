#include "spmm/parallel/context.hpp"

#include <chrono>
#include <functional>
#include <utility>

#include "spmm/device/gpu_backend.hpp"
#include "spmm/host/runtime/threads.hpp"

namespace block_eigs {

namespace {

template <class T>
Context<T> context_on(const Communicator& comm, HaloWay halo,
                      const std::function<std::shared_ptr<Device>()>& find_device) {
  std::shared_ptr<Device> device;
  std::shared_ptr<Kernels<T>> kernels;
  comm.collectively([&] {
    device = find_device();
    host::set_threads(host::default_threads(comm.node_size(), !device->host_addressable()));
    kernels = make_kernels<T>(device);
  });
  return {comm, device, kernels, std::make_shared<Profile>(device), make_transport(comm, device, halo)};
}

}  // namespace

DeviceStart::DeviceStart(const Communicator& comm, Backend backend) {
  const int node_rank = comm.node_rank();
  comm.collectively([&] {
    host::set_threads(host::default_threads(comm.node_size(), may_be_gpu(backend)));
    // Where there can be no more threads, the caller makes the device when it wants it.
    const auto policy = may_be_gpu(backend) ? std::launch::async | std::launch::deferred : std::launch::deferred;
    device_ = std::async(policy, [backend, node_rank] { return make_device(backend, node_rank); });
  });
}

bool DeviceStart::takes_time() const {
  // Without a GPU, or a driver, it is known by then.
  constexpr std::chrono::milliseconds a_moment(20);
  return device_.wait_for(a_moment) == std::future_status::timeout;
}

std::shared_ptr<Device> DeviceStart::get() {
  std::shared_ptr<Device> device = device_.get();
  device->synchronize(Queue::compute);  // a GPU is that of the calling thread from here on
  return device;
}

template <class T>
Context<T> make_context(const Communicator& comm, Backend backend, HaloWay halo) {
  return context_on<T>(comm, halo, [&] { return make_device(backend, comm.node_rank()); });
}

template <class T>
Context<T> make_context(const Communicator& comm, DeviceStart& start, HaloWay halo) {
  return context_on<T>(comm, halo, [&] { return start.get(); });
}

template <class T>
Context<T> kept_context(const Communicator& comm, Backend backend, HaloWay halo) {
  return context_on<T>(comm, halo, [&] { return kept_device(backend, comm.node_rank()); });
}

template Context<float> make_context(const Communicator&, Backend, HaloWay);
template Context<double> make_context(const Communicator&, Backend, HaloWay);
template Context<float> make_context(const Communicator&, DeviceStart&, HaloWay);
template Context<double> make_context(const Communicator&, DeviceStart&, HaloWay);
template Context<float> kept_context(const Communicator&, Backend, HaloWay);
template Context<double> kept_context(const Communicator&, Backend, HaloWay);

}  // namespace block_eigs
