#include "spmm/parallel/staged_transport.hpp"

#include <mpi.h>

#include <thread>
#include <utility>
#include <vector>

#include "spmm/device/buffer.hpp"
#include "spmm/error.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/halo_plan.hpp"

namespace block_eigs {

namespace {

/// What messages are sent from and received in. Staging only where the host cannot read device memory.
struct Buffers {
  Buffer<std::byte> packed;
  Buffer<std::byte> ghosts;
  StagingBuffer<std::byte> send;
  StagingBuffer<std::byte> receive;
};

/// What all channels of a transport work with.
struct Post {
  Communicator comm;
  std::shared_ptr<Device> device;
  std::chrono::duration<double> patience;
};

/// One row as an MPI type, so that counts are rows and stay below 2^31. Bytes: all ranks run one program.
class RowType {
 public:
  RowType() = default;
  RowType(const RowType&) = delete;
  RowType& operator=(const RowType&) = delete;
  ~RowType() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0) release();
  }

  MPI_Datatype of(std::size_t bytes) {
    if (type_ != MPI_DATATYPE_NULL && bytes == bytes_) return type_;
    release();
    MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type_);
    MPI_Type_commit(&type_);
    bytes_ = bytes;
    return type_;
  }

 private:
  void release() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }

  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  std::size_t bytes_ = 0;
};

class StagedChannel final : public Channel {
 public:
  StagedChannel(Post post, std::shared_ptr<const HaloPlan> plan)
      : post_(std::move(post)),
        plan_(std::move(plan)),
        ready_(post_.device->make_order_event()),
        packed_(post_.device->make_order_event()),
        arrived_(post_.device->make_order_event()),
        targets_(plan_->destinations().size()) {
    requests_.reserve(plan_->destinations().size() + plan_->sources().size());
  }

  ~StagedChannel() override { give_up(); }

  void reserve(std::size_t row_bytes) override {
    post_.comm.collectively([&] { grow(row_bytes); });
  }

  std::span<std::byte* const> open(std::size_t row_bytes) override {
    give_up();
    if (stage_ == Stage::dead) throw RunError("halo exchange: a neighbour did not answer an earlier one");
    grow(row_bytes);
    row_bytes_ = row_bytes;
    for (std::size_t d = 0; d < targets_.size(); ++d) {
      targets_[d] = buffers_->packed.data() + bytes(plan_->destinations()[d].first);
    }
    post_receives();
    Device& device = *post_.device;
    device.record(*ready_, Queue::compute);
    device.wait(Queue::transfer, *ready_);
    return targets_;
  }

  void send() override {
    if (!staged()) return post_sends();
    if (plan_->rows_to_send().empty()) return;
    Device& device = *post_.device;
    device.copy_to_host(buffers_->send.data(), buffers_->packed.data(), sent_bytes(), Queue::transfer);
    device.record(*packed_, Queue::transfer);
  }

  void progress() override {
    int done = 0;
    MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
  }

  const std::byte* receive() override {
    if (stage_ == Stage::open) {
      if (!plan_->destinations().empty()) post_.device->synchronize(*packed_);
      post_sends();
    }
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    stage_ = Stage::idle;
    if (staged() && plan_->ghosts() > 0) {
      Device& device = *post_.device;
      device.copy_to_device(buffers_->ghosts.data(), buffers_->receive.data(), bytes(plan_->ghosts()),
                            Queue::transfer);
      device.record(*arrived_, Queue::transfer);
      device.wait(Queue::compute, *arrived_);
    }
    return buffers_->ghosts.data();
  }

  void give_up() noexcept override {
    // Neighbours that go on with the round, or give it up too, wait for these rows, whatever is in them.
    if (stage_ == Stage::open) post_sends();
    if (stage_ != Stage::sent) return;
    stage_ = all_done_in_time() ? Stage::idle : Stage::dead;
    if (stage_ == Stage::idle) return;
    const std::size_t receives = plan_->sources().size();
    bool sending = false;
    for (std::size_t r = 0; r < requests_.size(); ++r) {
      if (requests_[r] == MPI_REQUEST_NULL) continue;
      if (r < receives) {
        MPI_Cancel(&requests_[r]);
        MPI_Wait(&requests_[r], MPI_STATUS_IGNORE);
      } else {
        MPI_Request_free(&requests_[r]);
        sending = true;
      }
    }
    requests_.clear();
    // MPI may read what it could not send until the process ends.
    if (sending) static_cast<void>(buffers_.release());
  }

 private:
  enum class Stage { idle, open, sent, dead };  ///< of the round; `open`: receives are posted

  bool staged() const { return !post_.device->host_addressable(); }
  std::size_t bytes(LocalIndex rows) const { return static_cast<std::size_t>(rows) * row_bytes_; }
  std::size_t sent_bytes() const { return plan_->rows_to_send().size() * row_bytes_; }

  /// Buffers grow to the widest row seen and stay.
  void grow(std::size_t row_bytes) {
    if (row_bytes <= widest_) return;
    const std::shared_ptr<Device>& device = post_.device;
    device->synchronize(Queue::compute);
    device->synchronize(Queue::transfer);
    const std::size_t out = plan_->rows_to_send().size() * row_bytes;
    const std::size_t in = static_cast<std::size_t>(plan_->ghosts()) * row_bytes;
    widest_ = 0;
    *buffers_ = {};  // the old ones go before the new ones come
    buffers_->packed = Buffer<std::byte>(device, out);
    buffers_->ghosts = Buffer<std::byte>(device, in);
    if (staged()) {
      buffers_->send = StagingBuffer<std::byte>(device, out);
      buffers_->receive = StagingBuffer<std::byte>(device, in);
    }
    widest_ = row_bytes;
  }

  void post_receives() {
    // The upload of the last round must have left the message buffer.
    if (staged()) post_.device->synchronize(*arrived_);
    requests_.clear();
    stage_ = Stage::open;
    std::byte* const buffer = staged() ? buffers_->receive.data() : buffers_->ghosts.data();
    for (const auto& source : plan_->sources()) {
      MPI_Irecv(buffer + bytes(source.first), source.count, row_type_.of(row_bytes_), source.rank, tag,
                post_.comm.handle(), &requests_.emplace_back(MPI_REQUEST_NULL));
    }
  }

  void post_sends() {
    stage_ = Stage::sent;
    const std::byte* const buffer = staged() ? buffers_->send.data() : buffers_->packed.data();
    for (const auto& destination : plan_->destinations()) {
      MPI_Isend(buffer + bytes(destination.first), destination.count, row_type_.of(row_bytes_), destination.rank,
                tag, post_.comm.handle(), &requests_.emplace_back(MPI_REQUEST_NULL));
    }
  }

  bool all_done_in_time() {
    using Clock = std::chrono::steady_clock;
    const auto deadline = Clock::now() + post_.patience;
    for (int done = 0;;) {
      MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
      if (done != 0) return true;
      if (Clock::now() > deadline) return false;
      std::this_thread::yield();
    }
  }

  static constexpr int tag = 1;

  Post post_;
  std::shared_ptr<const HaloPlan> plan_;
  std::unique_ptr<Event> ready_;
  std::unique_ptr<Event> packed_;
  std::unique_ptr<Event> arrived_;
  std::vector<std::byte*> targets_;
  std::unique_ptr<Buffers> buffers_ = std::make_unique<Buffers>();
  std::vector<MPI_Request> requests_;  ///< receives, then sends
  RowType row_type_;
  std::size_t row_bytes_ = 0;
  std::size_t widest_ = 0;
  Stage stage_ = Stage::idle;
};

class StagedTransport final : public Transport {
 public:
  StagedTransport(Post post, std::string description)
      : post_(std::move(post)), description_(std::move(description)) {}

  std::unique_ptr<Channel> make_channel(std::shared_ptr<const HaloPlan> plan) override {
    return std::make_unique<StagedChannel>(post_, std::move(plan));
  }
  std::string description() const override { return description_; }

 private:
  Post post_;
  std::string description_;
};

}  // namespace

std::shared_ptr<Transport> make_staged_transport(const Communicator& comm, const std::shared_ptr<Device>& device,
                                                 std::chrono::duration<double> patience, std::string description) {
  return std::make_shared<StagedTransport>(Post{comm, device, patience}, std::move(description));
}

}  // namespace block_eigs
