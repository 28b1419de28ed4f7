#include "spmm/parallel/context.hpp"

#include <functional>

#include "spmm/host/runtime/threads.hpp"

namespace block_eigs {

namespace {

template <class T>
Context<T> context_on(const Communicator& comm, HaloWay halo,
                      const std::function<std::shared_ptr<Device>()>& find_device) {
  std::shared_ptr<Device> device;
  std::shared_ptr<Kernels<T>> kernels;
  comm.collectively([&] {
    host::set_threads(host::default_threads(comm.node_size()));
    device = find_device();
    kernels = make_kernels<T>(device);
  });
  return {comm, device, kernels, std::make_shared<Profile>(device), make_transport(comm, device, halo)};
}

}  // namespace

template <class T>
Context<T> make_context(const Communicator& comm, Backend backend, HaloWay halo) {
  return context_on<T>(comm, halo, [&] { return make_device(backend, comm.node_rank()); });
}

template <class T>
Context<T> kept_context(const Communicator& comm, Backend backend, HaloWay halo) {
  return context_on<T>(comm, halo, [&] { return kept_device(backend, comm.node_rank()); });
}

template Context<float> make_context(const Communicator&, Backend, HaloWay);
template Context<double> make_context(const Communicator&, Backend, HaloWay);
template Context<float> kept_context(const Communicator&, Backend, HaloWay);
template Context<double> kept_context(const Communicator&, Backend, HaloWay);

}  // namespace block_eigs
