#include "spmm/parallel/nccl_transport.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "spmm/device/buffer.hpp"
#include "spmm/device/device_messages.hpp"
#include "spmm/error.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/halo_plan.hpp"

namespace block_eigs {

namespace {

/// What the channels of a transport share.
struct Connection {
  Communicator comm;
  std::shared_ptr<Device> device;
  std::unique_ptr<DeviceMessages> messages;
  std::chrono::duration<double> patience{};
  bool broken = false;  ///< nothing is sent any more
};

bool done_in_time(DeviceMessages& messages, std::chrono::duration<double> patience) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + patience;
  while (!messages.all_done()) {
    messages.check();
    if (Clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

class NcclChannel final : public Channel {
 public:
  NcclChannel(std::shared_ptr<Connection> connection, std::shared_ptr<const HaloPlan> plan)
      : connection_(std::move(connection)),
        plan_(std::move(plan)),
        ready_(connection_->device->make_order_event()),
        arrived_(connection_->device->make_order_event()),
        addresses_(plan_->destinations().size()) {}

  ~NcclChannel() override { give_up(); }

  void reserve(std::size_t row_bytes) override {
    give_up();
    connection_->comm.collectively([&] {
      require_alive();
      make_room(row_bytes);
    });
  }

  std::span<std::byte* const> open(std::size_t row_bytes) override {
    give_up();
    require_alive();
    make_room(row_bytes);
    row_bytes_ = row_bytes;
    const std::vector<HaloPlan::Neighbour>& destinations = plan_->destinations();
    for (std::size_t d = 0; d < destinations.size(); ++d)
      addresses_[d] = packed_.data() + static_cast<std::size_t>(destinations[d].first) * row_bytes;
    // Whoever read the last ghosts has done so.
    connection_->device->record(*ready_, Queue::compute);
    connection_->device->wait(Queue::transfer, *ready_);
    stage_ = Stage::open;
    return addresses_;
  }

  void send() override { send_within(others_at_work); }

  void progress() override {}

  const std::byte* receive() override {
    connection_->messages->check();
    connection_->device->wait(Queue::compute, *arrived_);
    stage_ = Stage::idle;
    return ghosts_.data();
  }

  void give_up() noexcept override {
    if (stage_ == Stage::idle) return;
    try {
      // Neighbours that go on with the round, or give it up too, wait for these rows, whatever is in them. One
      // that has failed before its first round with this rank never comes to it.
      if (stage_ == Stage::open) send_within(connection_->patience);
      connection_->device->wait(Queue::compute, *arrived_);
      if (!done_in_time(*connection_->messages, connection_->patience)) abandon();
    } catch (const std::exception&) {
      abandon();
    }
    stage_ = Stage::idle;
  }

 private:
  enum class Stage { idle, open, sent };  ///< of the round

  /// For the first round with a neighbour, who may come to it after a long time of other work.
  static constexpr std::chrono::minutes others_at_work{10};

  void send_within(std::chrono::duration<double> patience) {
    stage_ = Stage::sent;  // also where the next fails: nobody knows then what was sent
    sent_.clear();
    received_.clear();
    add(plan_->destinations(), packed_.data(), sent_);
    add(plan_->sources(), ghosts_.data(), received_);
    if (!sent_.empty() || !received_.empty())
      connection_->messages->exchange(sent_, received_, Queue::transfer, patience);
    connection_->device->record(*arrived_, Queue::transfer);
  }

  void require_alive() const {
    if (connection_->broken) throw RunError("halo exchange: a neighbour did not answer an earlier one");
  }

  void make_room(std::size_t row_bytes) {
    if (row_bytes <= widest_) return;
    // What is released now may be on its way still.
    connection_->device->synchronize(Queue::transfer);
    widest_ = 0;
    packed_ = {};
    ghosts_ = {};
    packed_ = Buffer<std::byte>(connection_->device, plan_->rows_to_send().size() * row_bytes);
    ghosts_ = Buffer<std::byte>(connection_->device, static_cast<std::size_t>(plan_->ghosts()) * row_bytes);
    widest_ = row_bytes;
  }

  void add(const std::vector<HaloPlan::Neighbour>& neighbours, std::byte* rows,
           std::vector<DeviceMessages::Message>& messages) const {
    if (row_bytes_ == 0) return;
    for (const HaloPlan::Neighbour& each : neighbours) {
      messages.push_back({rows + static_cast<std::size_t>(each.first) * row_bytes_,
                          static_cast<std::size_t>(each.count) * row_bytes_, each.rank});
    }
  }

  void abandon() noexcept {
    connection_->broken = true;
    connection_->messages->abandon();
  }

  std::shared_ptr<Connection> connection_;
  std::shared_ptr<const HaloPlan> plan_;
  std::unique_ptr<Event> ready_;
  std::unique_ptr<Event> arrived_;
  std::vector<std::byte*> addresses_;
  std::vector<DeviceMessages::Message> sent_;
  std::vector<DeviceMessages::Message> received_;
  Buffer<std::byte> packed_;
  Buffer<std::byte> ghosts_;
  std::size_t widest_ = 0;
  std::size_t row_bytes_ = 0;
  Stage stage_ = Stage::idle;
};

class NcclTransport final : public Transport {
 public:
  explicit NcclTransport(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}

  std::unique_ptr<Channel> make_channel(std::shared_ptr<const HaloPlan> plan) override {
    return std::make_unique<NcclChannel>(connection_, std::move(plan));
  }
  std::string description() const override {
    return "nccl, the devices' queues send rows by " + connection_->messages->name();
  }

 private:
  std::shared_ptr<Connection> connection_;
};

/// Rank 0's meeting on all ranks. Collective.
DeviceMessages::Meeting shared(const Communicator& comm, const DeviceMessages::Meeting& meeting) {
  std::string text(meeting.size(), '\0');
  std::memcpy(text.data(), meeting.data(), meeting.size());
  text = comm.broadcast(text);
  DeviceMessages::Meeting result{};
  std::memcpy(result.data(), text.data(), result.size());
  return result;
}

/// A number goes to the next rank.
void try_out(Connection& connection) {
  const int rank = connection.comm.rank();
  const int ranks = connection.comm.size();
  Buffer<double> number(connection.device, 2);
  const std::vector<double> mine = {1.0 * rank, -1.0};
  std::vector<double> found(2);
  number.upload(mine.data());
  const DeviceMessages::Message sent{number.data(), sizeof(double), (rank + 1) % ranks};
  const DeviceMessages::Message received{number.data() + 1, sizeof(double), (rank + ranks - 1) % ranks};
  constexpr std::chrono::minutes patience(1);
  connection.messages->exchange({&sent, 1}, {&received, 1}, Queue::transfer, patience);
  if (!done_in_time(*connection.messages, patience)) {
    connection.messages->abandon();  // or the queue would wait for good
    throw RunError("a message of NCCL did not come");
  }
  number.download(found.data());
  if (found.back() != received.process) throw RunError("a message of NCCL did not bring what was sent");
}

}  // namespace

TransportAttempt make_nccl_transport(const Communicator& comm, const std::shared_ptr<Device>& device,
                                     std::chrono::duration<double> patience) {
  auto connection = std::make_shared<Connection>(Connection{comm, device, nullptr, patience});
  DeviceMessages::Meeting meeting{};
  std::string failure = failure_of(comm, [&] {
    connection->messages = device->make_messages();
    if (comm.is_root()) meeting = connection->messages->make_meeting();
  });
  if (!failure.empty()) return {nullptr, failure};
  if (share_devices(comm, connection->messages->device_number())) return {nullptr, "ranks share a device"};
  meeting = shared(comm, meeting);
  failure = failure_of(comm, [&] { connection->messages->connect(meeting, comm.rank(), comm.size()); });
  if (failure.empty()) failure = failure_of(comm, [&] { try_out(*connection); });
  if (!failure.empty()) return {nullptr, failure};
  return {std::make_shared<NcclTransport>(std::move(connection)), ""};
}

}  // namespace block_eigs
