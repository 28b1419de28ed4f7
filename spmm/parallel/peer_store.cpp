#include "spmm/parallel/peer_store.hpp"

#include <mpi.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "spmm/error.hpp"

namespace block_eigs {

PeerStore::PeerStore(const Communicator& comm, std::shared_ptr<Device> device, std::unique_ptr<PeerMemory> memory,
                     std::chrono::duration<double> patience)
    : comm_(std::make_unique<Communicator>(comm.handle())),
      device_(std::move(device)),
      memory_(std::move(memory)),
      patience_(patience) {
  // A neighbour may be on its way to this rank by MPI.
  memory_->while_waiting([comm = comm_->handle()] {
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, MPI_STATUS_IGNORE);
  });
}

PeerStore::~PeerStore() {
  if (!broken_) close_all();
  // Queues that wait for good would hold up whoever releases memory; a collective that not all have joined holds
  // on to its communicator.
  const bool closed = !broken_ && all_have_closed();
  if (closed) {
    for (const Block& block : all_) memory_->release(block.data);
  } else {
    static_cast<void>(comm_.release());
  }
}

void PeerStore::close_all() noexcept {
  try {
    device_->synchronize(Queue::compute);
    device_->synchronize(Queue::transfer);
  } catch (const Error&) {
    broken_ = true;  // whoever waits for the device learns why
    return;
  }
  for (const auto& [handle, memory] : opened_) memory_->close(memory);
}

bool PeerStore::all_have_closed() noexcept {
  using Clock = std::chrono::steady_clock;
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0) return false;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(comm_->handle(), &request);
  const auto deadline = Clock::now() + std::chrono::seconds(1);
  for (int done = 0;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return true;
    if (Clock::now() > deadline) return false;
    std::this_thread::yield();
  }
}

PeerStore::Block PeerStore::take(std::size_t bytes) {
  if (bytes == 0) return {};
  auto best = idle_.end();
  for (auto block = idle_.begin(); block != idle_.end(); ++block) {
    if (block->bytes >= bytes && (best == idle_.end() || block->bytes < best->bytes)) best = block;
  }
  if (best != idle_.end()) {
    const Block block = *best;
    idle_.erase(best);
    return block;
  }
  const std::size_t piece = memory_->granularity();
  return allocate((bytes + piece - 1) / piece * piece);
}

PeerStore::Block PeerStore::allocate(std::size_t bytes) {
  all_.reserve(all_.size() + 1);
  idle_.reserve(all_.size() + 1);  // so that giving back needs no memory
  const Block block{static_cast<std::byte*>(memory_->allocate(bytes)), bytes};
  all_.push_back(block);
  handles_[block.data] = memory_->handle_of(block.data);
  return block;
}

void PeerStore::give_back(Block block) noexcept {
  if (block.bytes > 0) idle_.push_back(block);
}

RemotePlace PeerStore::place_of(const Block& block) {
  return block.bytes > 0 ? RemotePlace{handles_.at(block.data), 0} : RemotePlace{};
}

PeerStore::Flag PeerStore::new_flag() {
  if ((flags_ + 1) * sizeof(std::uint64_t) > page_.bytes) {
    page_ = allocate(memory_->granularity());
    flags_ = 0;
  }
  const std::size_t offset = flags_++ * sizeof(std::uint64_t);
  return {reinterpret_cast<std::uint64_t*>(page_.data + offset), {handles_.at(page_.data), offset}};
}

std::byte* PeerStore::reach(const RemotePlace& place) {
  std::byte*& memory = opened_[place.memory];
  if (memory == nullptr) {
    try {
      memory = static_cast<std::byte*>(memory_->open(place.memory));
    } catch (...) {
      opened_.erase(place.memory);
      throw;
    }
  }
  return memory + place.offset;
}

}  // namespace block_eigs
