#include "spmm/parallel/halo_exchange.hpp"

#include <mpi.h>

#include <utility>
#include <vector>

#include "spmm/device/buffer.hpp"

namespace block_eigs {

namespace {

/// Rows are packed by a kernel into one contiguous message a neighbour. On a GPU they then travel device ->
/// page-locked memory -> MPI -> page-locked memory -> device in the transfer queue; on the host the packed
/// rows and the ghosts are the message buffers themselves.
template <class T>
class StagedHaloExchange final : public HaloExchange<T> {
 public:
  StagedHaloExchange(const Context<T>& context, HaloPlan plan)
      : context_(context),
        plan_(std::move(plan)),
        rows_to_send_(context.device, plan_.rows_to_send().size()),
        ready_(context.device->make_event()),
        packed_(context.device->make_event()),
        arrived_(context.device->make_event()) {
    rows_to_send_.upload(plan_.rows_to_send().data());
  }

  ~StagedHaloExchange() override {
    // An exception between begin and finish: MPI must not write into buffers that are gone.
    for (MPI_Request& request : requests_) {
      if (request == MPI_REQUEST_NULL) continue;
      MPI_Cancel(&request);
      MPI_Request_free(&request);
    }
  }

  void begin(ConstBlockView<T> x) override {
    cols_ = x.cols;
    reserve();
    post_receives();
    // Also keeps the ghosts of the last exchange until the product that reads them is done.
    Device& device = *context_.device;
    device.record(*ready_, Queue::compute);
    device.wait(Queue::transfer, *ready_);
    if (!plan_.rows_to_send().empty()) {
      const auto rows = static_cast<LocalIndex>(plan_.rows_to_send().size());
      context_.kernels->gather_rows(x, rows_to_send_.data(), {packed_rows_.data(), rows, cols_, cols_},
                                    Queue::transfer);
      if (staged()) {
        device.copy_to_host(send_.data(), packed_rows_.data(), elements(rows) * sizeof(T), Queue::transfer);
      }
      device.record(*packed_, Queue::transfer);
    }
    sent_ = false;
    if (!staged()) post_sends();
  }

  void progress() override {
    int done = 0;
    MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
  }

  ConstBlockView<T> finish() override {
    const Profile::Scope scope(*context_.profile, Phase::halo_wait);
    if (!sent_) post_sends();
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
    const ConstBlockView<T> ghosts{ghost_rows_.data(), plan_.ghosts(), cols_, cols_};
    if (staged() && plan_.ghosts() > 0) {
      Device& device = *context_.device;
      device.copy_to_device(ghost_rows_.data(), receive_.data(), elements(plan_.ghosts()) * sizeof(T),
                            Queue::transfer);
      device.record(*arrived_, Queue::transfer);
      device.wait(Queue::compute, *arrived_);
    }
    return ghosts;
  }

 private:
  bool staged() const { return !context_.device->host_addressable(); }
  std::size_t elements(LocalIndex rows) const {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols_);
  }

  /// Buffers grow to the widest block seen and stay.
  void reserve() {
    const std::size_t to_send = elements(static_cast<LocalIndex>(plan_.rows_to_send().size()));
    const std::size_t to_receive = elements(plan_.ghosts());
    if (packed_rows_.size() >= to_send && ghost_rows_.size() >= to_receive) return;
    context_.device->synchronize(Queue::compute);
    context_.device->synchronize(Queue::transfer);
    packed_rows_ = Buffer<T>(context_.device, to_send);
    ghost_rows_ = Buffer<T>(context_.device, to_receive);
    if (!staged()) return;
    send_ = StagingBuffer<T>(context_.device, to_send);
    receive_ = StagingBuffer<T>(context_.device, to_receive);
  }

  void post_receives() {
    // The upload of the last exchange must have left the message buffer.
    if (staged()) context_.device->synchronize(*arrived_);
    requests_.clear();
    T* buffer = staged() ? receive_.data() : ghost_rows_.data();
    for (const auto& source : plan_.sources()) {
      requests_.push_back(MPI_REQUEST_NULL);
      MPI_Irecv(buffer + elements(source.first), source.count, row_type(), source.rank, tag,
                context_.comm.handle(), &requests_.back());
    }
  }

  void post_sends() {
    sent_ = true;
    if (plan_.destinations().empty()) return;
    if (staged()) context_.device->synchronize(*packed_);
    const T* buffer = staged() ? send_.data() : packed_rows_.data();
    for (const auto& destination : plan_.destinations()) {
      requests_.push_back(MPI_REQUEST_NULL);
      MPI_Isend(buffer + elements(destination.first), destination.count, row_type(), destination.rank, tag,
                context_.comm.handle(), &requests_.back());
    }
  }

  /// One row as an MPI type, so that counts are rows and stay below 2^31.
  MPI_Datatype row_type() {
    if (row_type_.cols != cols_) row_type_.make(cols_);
    return row_type_.type;
  }

  struct RowType {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    LocalIndex cols = -1;

    void make(LocalIndex count) {
      release();
      MPI_Type_contiguous(count, sizeof(T) == 8 ? MPI_DOUBLE : MPI_FLOAT, &type);
      MPI_Type_commit(&type);
      cols = count;
    }
    void release() {
      if (type != MPI_DATATYPE_NULL) MPI_Type_free(&type);
    }
    ~RowType() {
      int finalized = 0;
      MPI_Finalized(&finalized);
      if (finalized == 0) release();
    }
  };

  static constexpr int tag = 1;

  Context<T> context_;
  HaloPlan plan_;
  Buffer<LocalIndex> rows_to_send_;
  std::unique_ptr<Event> ready_;
  std::unique_ptr<Event> packed_;
  std::unique_ptr<Event> arrived_;
  Buffer<T> packed_rows_;
  Buffer<T> ghost_rows_;
  StagingBuffer<T> send_;
  StagingBuffer<T> receive_;
  std::vector<MPI_Request> requests_;
  RowType row_type_;
  LocalIndex cols_ = 0;
  bool sent_ = true;
};

}  // namespace

template <class T>
std::unique_ptr<HaloExchange<T>> make_halo_exchange(const Context<T>& context, HaloPlan plan) {
  return std::make_unique<StagedHaloExchange<T>>(context, std::move(plan));
}

template std::unique_ptr<HaloExchange<float>> make_halo_exchange(const Context<float>&, HaloPlan);
template std::unique_ptr<HaloExchange<double>> make_halo_exchange(const Context<double>&, HaloPlan);

}  // namespace block_eigs
