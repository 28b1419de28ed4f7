#pragma once

#include <mpi.h>

#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "spmm/device/device_messages.hpp"
#include "tests/support/staged_device.hpp"

namespace block_eigs::test {

/// Messages of MPI between blocks of host memory, in queues that run at once.
class MpiMessages final : public DeviceMessages {
 public:
  MpiMessages(MPI_Comm comm, bool shared) : comm_(comm), shared_(shared) {}

  std::string name() const override { return "MPI"; }
  DeviceNumber device_number() const override { return {shared_ ? 0 : getpid(), 0}; }
  Meeting make_meeting() override { return {std::byte{1}, std::byte{0}, std::byte{7}}; }
  void connect(const Meeting& meeting, int, int) override {
    if (meeting != make_meeting()) throw RunError("not the meeting that was made");
  }
  void exchange(std::span<const Message> sent, std::span<const Message> received, Queue) override {
    std::vector<MPI_Request> requests;
    for (const Message& m : received)
      MPI_Irecv(m.data, static_cast<int>(m.bytes), MPI_BYTE, m.process, 9, comm_, &requests.emplace_back());
    for (const Message& m : sent)
      MPI_Isend(m.data, static_cast<int>(m.bytes), MPI_BYTE, m.process, 9, comm_, &requests.emplace_back());
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }
  bool all_done() override { return true; }
  void abandon() noexcept override {}

 private:
  MPI_Comm comm_;
  bool shared_;
};

/// The host under a name of its own, with such messages.
class MpiMessagesDevice final : public StagedDevice {
 public:
  explicit MpiMessagesDevice(MPI_Comm comm) : StagedDevice(Backend::cuda), comm_(comm) {}

  bool shared = false;  ///< as if all ranks had one device

  std::unique_ptr<DeviceMessages> make_messages() override { return std::make_unique<MpiMessages>(comm_, shared); }

 private:
  MPI_Comm comm_;
};

}  // namespace block_eigs::test
