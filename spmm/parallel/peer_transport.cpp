#include "spmm/parallel/peer_transport.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "spmm/device/device.hpp"
#include "spmm/device/peer_memory.hpp"
#include "spmm/error.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/peer_channel.hpp"
#include "spmm/parallel/peer_store.hpp"

namespace block_eigs {

namespace {

class PeerTransport final : public Transport {
 public:
  explicit PeerTransport(std::shared_ptr<PeerStore> store) : store_(std::move(store)) {}

  std::unique_ptr<Channel> make_channel(std::shared_ptr<const HaloPlan> plan) override {
    return make_peer_channel(store_, std::move(plan));
  }
  std::string description() const override {
    // On the host it is what everybody expects.
    if (store_->device().host_addressable()) return "";
    return "peer, rows are stored into the memory of the neighbour's device";
  }

 private:
  std::shared_ptr<PeerStore> store_;
};

std::vector<std::int64_t> words_of(const RemotePlace& place) {
  std::vector<std::int64_t> words;
  for (const std::byte byte : place.memory) words.push_back(std::to_integer<std::int64_t>(byte));
  words.push_back(static_cast<std::int64_t>(place.offset));
  return words;
}

RemotePlace place_of(const std::vector<std::int64_t>& words) {
  RemotePlace place;
  for (std::size_t i = 0; i < place.memory.size(); ++i) place.memory[i] = static_cast<std::byte>(words[i]);
  place.offset = static_cast<std::uint64_t>(words.back());
  return place;
}

/// Every rank sets a flag of every other one; returns what went wrong on all of them. A queue waits for flags only
/// after the host has seen them, so that nothing waits for good. Collective.
std::string try_out(PeerStore& store) {
  const Communicator& comm = store.comm();
  const auto me = static_cast<std::size_t>(comm.rank());
  const auto ranks = static_cast<std::size_t>(comm.size());
  constexpr std::uint64_t value = 1;
  std::vector<PeerStore::Flag> own(ranks);
  Words places(ranks);
  std::string failure = failure_of(comm, [&] {
    for (std::size_t r = 0; r < ranks; ++r) {
      own[r] = store.new_flag();
      places[r] = words_of(own[r].place);
    }
  });
  if (!failure.empty()) return failure;
  const Words others = comm.all_to_all(places);
  failure = failure_of(comm, [&] {
    std::vector<Signal> signals;
    for (std::size_t r = 0; r < ranks; ++r) {
      if (r != me) signals.push_back({reinterpret_cast<std::uint64_t*>(store.reach(place_of(others[r]))), value});
    }
    store.memory().set(signals, Queue::transfer);
    store.device().synchronize(Queue::transfer);
  });
  if (!failure.empty()) return failure;
  return failure_of(comm, [&] {
    std::vector<Signal> signals;
    for (std::size_t r = 0; r < ranks; ++r) {
      if (r == me) continue;
      if (store.memory().read(own[r].here) != value)
        throw RunError("a flag that another rank has set is not here");
      signals.push_back({own[r].here, value});
    }
    store.memory().wait(signals, Queue::compute);
    store.device().synchronize(Queue::compute);
  });
}

}  // namespace

TransportAttempt make_peer_transport(const Communicator& comm, const std::shared_ptr<Device>& device,
                                     std::chrono::duration<double> patience, bool may_share) {
  if (comm.node_size() != comm.size()) return {nullptr, "the ranks are on several nodes"};
  std::unique_ptr<PeerMemory> memory;
  std::string failure = failure_of(comm, [&] {
    memory = device->make_peer_memory();
    if (!memory) throw RunError("memory of " + device->name() + " is not open to other processes");
  });
  if (!failure.empty()) return {nullptr, failure};
  if (!may_share && share_devices(comm, memory->device_number())) return {nullptr, "ranks share a device"};
  auto store = std::make_shared<PeerStore>(comm, device, std::move(memory), patience);
  failure = try_out(*store);
  if (!failure.empty()) return {nullptr, failure};
  return {std::make_shared<PeerTransport>(std::move(store)), ""};
}

}  // namespace block_eigs
