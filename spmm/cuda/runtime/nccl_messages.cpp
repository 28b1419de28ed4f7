#include "spmm/cuda/runtime/nccl_messages.hpp"

#include <dlfcn.h>
#include <nccl.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "spmm/cuda/runtime/cuda_check.hpp"
#include "spmm/error.hpp"

namespace block_eigs::cuda {

namespace {

/// The functions that are used, of the library that the system's loader finds.
struct Nccl {
  decltype(&ncclGetVersion) version = nullptr;
  decltype(&ncclGetErrorString) error_text = nullptr;
  decltype(&ncclGetUniqueId) unique_id = nullptr;
  decltype(&ncclCommInitRankConfig) init = nullptr;
  decltype(&ncclCommGetAsyncError) state = nullptr;
  decltype(&ncclCommFinalize) finalize = nullptr;
  decltype(&ncclCommDestroy) destroy = nullptr;
  decltype(&ncclCommAbort) abort = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) receive = nullptr;
};

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) throw RunError(std::string("libnccl.so.2 has no ") + name);
}

Nccl load() {
  // Multicast of NVLink keeps state in switches that jobs of others use, and halos have no use for it.
  setenv("NCCL_NVLS_ENABLE", "0", 0);
  void* const library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw RunError("libnccl.so.2 is not found");
  Nccl nccl;
  find(library, "ncclGetVersion", nccl.version);
  find(library, "ncclGetErrorString", nccl.error_text);
  find(library, "ncclGetUniqueId", nccl.unique_id);
  find(library, "ncclCommInitRankConfig", nccl.init);
  find(library, "ncclCommGetAsyncError", nccl.state);
  find(library, "ncclCommFinalize", nccl.finalize);
  find(library, "ncclCommDestroy", nccl.destroy);
  find(library, "ncclCommAbort", nccl.abort);
  find(library, "ncclGroupStart", nccl.group_start);
  find(library, "ncclGroupEnd", nccl.group_end);
  find(library, "ncclSend", nccl.send);
  find(library, "ncclRecv", nccl.receive);
  return nccl;
}

/// Stays to the end of the process: libraries with device code are not closed.
const Nccl& library() {
  static const Nccl nccl = load();
  return nccl;
}

class NcclMessages final : public DeviceMessages {
 public:
  explicit NcclMessages(CudaDevice& device)
      : device_(device), nccl_(library()), done_(device.make_order_event()) {}

  ~NcclMessages() override {
    if (comm_ == nullptr) return;
    // The others' part in the end may never come.
    const ncclResult_t begun = nccl_.finalize(comm_);
    const bool going = begun == ncclSuccess || begun == ncclInProgress;
    if (going && settled(std::chrono::seconds(5)) == ncclSuccess) {
      nccl_.destroy(comm_);
    } else {
      nccl_.abort(comm_);
    }
  }

  std::string name() const override {
    int version = 0;
    nccl_.version(&version);
    return "NCCL " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
           std::to_string(version % 100);
  }
  DeviceNumber device_number() const override { return device_.number(); }

  Meeting make_meeting() override {
    ncclUniqueId id;
    static_assert(sizeof(id) == sizeof(Meeting));
    check_nccl(nccl_.unique_id(&id), "find a place to meet");
    Meeting meeting{};
    std::memcpy(meeting.data(), &id, sizeof(id));
    return meeting;
  }

  void connect(const Meeting& meeting, int process, int processes) override {
    device_.make_current();
    ncclUniqueId id;
    std::memcpy(&id, meeting.data(), sizeof(id));
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;  // so that nobody waits for good for one that fails
    const ncclResult_t begun = nccl_.init(&comm_, processes, id, process, &config);
    const bool going = begun == ncclSuccess || begun == ncclInProgress;
    const ncclResult_t result = going ? settled(std::chrono::minutes(1)) : begun;
    if (result != ncclSuccess) abandon();
    check_nccl(result, "connect the ranks' devices");
  }

  void exchange(std::span<const Message> sent, std::span<const Message> received, Queue queue,
                std::chrono::duration<double> patience) override {
    if (comm_ == nullptr) throw RunError("NCCL: the connection was given up");
    cudaStream_t const stream = device_.stream(queue);
    check_nccl(nccl_.group_start(), "begin messages");
    ncclResult_t result = ncclSuccess;
    const auto keep = [&](ncclResult_t each) {
      if (each != ncclSuccess && each != ncclInProgress) result = each;
    };
    for (const Message& m : received) keep(nccl_.receive(m.data, m.bytes, ncclInt8, m.process, comm_, stream));
    for (const Message& m : sent) keep(nccl_.send(m.data, m.bytes, ncclInt8, m.process, comm_, stream));
    keep(nccl_.group_end());
    if (result == ncclSuccess) result = settled(patience);
    // What was begun may still come: the connection is of no use any more, and all_done() of an earlier exchange.
    if (result != ncclSuccess) abandon();
    check_nccl(result, "send messages");
    device_.record(*done_, queue);
  }

  // What fails behind a launch, a connection that another process has left, say, NCCL tells nobody unasked.
  void check() override {
    if (comm_ == nullptr) return;
    ncclResult_t state = ncclSuccess;
    ncclResult_t result = nccl_.state(comm_, &state);
    if (result == ncclSuccess && state != ncclInProgress) result = state;
    if (result != ncclSuccess) abandon();
    check_nccl(result, "go on with messages");
  }

  bool all_done() override { return device_.has_happened(*done_); }

  void abandon() noexcept override {
    if (comm_ != nullptr) nccl_.abort(comm_);
    comm_ = nullptr;
  }

 private:
  /// The result of the latest call once it is known; ncclInProgress where that takes longer than `patience`.
  ncclResult_t settled(std::chrono::duration<double> patience) {
    using Clock = std::chrono::steady_clock;
    ncclResult_t state = ncclInProgress;
    Clock::time_point deadline{};
    for (;;) {
      const ncclResult_t asked = nccl_.state(comm_, &state);
      if (asked != ncclSuccess) return asked;
      if (state != ncclInProgress) return state;
      if (deadline == Clock::time_point{})
        deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(patience);
      if (Clock::now() > deadline) return ncclInProgress;
      std::this_thread::yield();
    }
  }

  void check_nccl(ncclResult_t result, const char* what) const {
    if (result == ncclSuccess) return;
    throw RunError(std::string("NCCL: cannot ") + what + ": " +
                   (result == ncclInProgress ? "other ranks do not answer" : nccl_.error_text(result)));
  }

  CudaDevice& device_;
  const Nccl& nccl_;
  std::unique_ptr<Event> done_;
  ncclComm_t comm_ = nullptr;
};

}  // namespace

std::unique_ptr<DeviceMessages> make_nccl_messages(CudaDevice& device) {
  device.make_current();
  return std::make_unique<NcclMessages>(device);
}

}  // namespace block_eigs::cuda
