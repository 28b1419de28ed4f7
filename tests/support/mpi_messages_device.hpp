#pragma once

#include <mpi.h>

#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "spmm/device/device_messages.hpp"
#include "tests/support/staged_device.hpp"

namespace block_eigs::test {

/// How the messages of a process fail, on purpose.
struct MessageFaults {
  int calls_before = -1;             ///< the call after so many fails; below 0: none does
  bool behind_launch_after = false;  ///< it does so behind its launch, which the call itself does not tell
  bool behind_launch = false;        ///< what was sent has failed so
};

/// Messages of MPI between blocks of host memory, in queues that run at once. As with NCCL, a process that gives
/// the connection up ends it for all others.
class MpiMessages final : public DeviceMessages {
 public:
  MpiMessages(MPI_Comm comm, bool shared, MessageFaults& faults) : comm_(comm), shared_(shared), faults_(faults) {}

  std::string name() const override { return "MPI"; }
  DeviceNumber device_number() const override { return {shared_ ? 0 : getpid(), 0}; }
  Meeting make_meeting() override { return {std::byte{1}, std::byte{0}, std::byte{7}}; }
  void connect(const Meeting& meeting, int, int) override {
    if (meeting != make_meeting()) throw RunError("not the meeting that was made");
    MPI_Comm_dup(comm_, &connection_);  // stays: others may have failed when this one goes
  }

  void exchange(std::span<const Message> sent, std::span<const Message> received, Queue,
                std::chrono::duration<double> patience) override {
    check();
    if (faults_.calls_before >= 0 && faults_.calls_before-- == 0) {
      faults_.behind_launch = faults_.behind_launch_after;
      if (!faults_.behind_launch) fail("a message failed on purpose");
    }
    std::vector<MPI_Request> requests;
    for (const Message& m : received)
      MPI_Irecv(m.data, static_cast<int>(m.bytes), MPI_BYTE, m.process, rows, connection_,
                &requests.emplace_back());
    for (const Message& m : sent)
      MPI_Isend(m.data, static_cast<int>(m.bytes), MPI_BYTE, m.process, rows, connection_,
                &requests.emplace_back());
    using Clock = std::chrono::steady_clock;
    const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(patience);
    for (int done = 0;;) {
      MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
      if (done != 0) return;
      const bool late = Clock::now() > deadline;
      if (late || others_gave_up()) {
        for (MPI_Request& request : requests) {
          if (request == MPI_REQUEST_NULL) continue;
          MPI_Cancel(&request);
          MPI_Request_free(&request);
        }
        fail(late ? "other processes do not answer" : "another process has given up");
      }
      std::this_thread::yield();
    }
  }
  void check() override {
    if (over_) throw RunError("the connection was given up");
    if (faults_.behind_launch) fail("a message failed on its way");
    if (others_gave_up()) fail("another process has given up");
  }
  bool all_done() override { return true; }
  void abandon() noexcept override {
    if (over_ || connection_ == MPI_COMM_NULL) return;
    over_ = true;
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(connection_, &rank);
    MPI_Comm_size(connection_, &ranks);
    for (int r = 0; r < ranks; ++r) {
      if (r != rank) MPI_Send(nullptr, 0, MPI_BYTE, r, end, connection_);
    }
  }

 private:
  static constexpr int rows = 9;
  static constexpr int end = 10;

  bool others_gave_up() const {
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, end, connection_, &found, MPI_STATUS_IGNORE);
    return found != 0;
  }
  [[noreturn]] void fail(const std::string& why) {
    abandon();
    throw RunError(why);
  }

  MPI_Comm comm_;
  MPI_Comm connection_ = MPI_COMM_NULL;
  bool shared_;
  bool over_ = false;
  MessageFaults& faults_;
};

/// The host under a name of its own, with such messages.
class MpiMessagesDevice final : public StagedDevice {
 public:
  explicit MpiMessagesDevice(MPI_Comm comm) : StagedDevice(Backend::cuda), comm_(comm) {}

  bool shared = false;   ///< as if all ranks had one device
  MessageFaults faults;  ///< of this rank

  std::unique_ptr<DeviceMessages> make_messages() override {
    return std::make_unique<MpiMessages>(comm_, shared, faults);
  }

 private:
  MPI_Comm comm_;
};

}  // namespace block_eigs::test
