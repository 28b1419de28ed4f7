#include "spmm/parallel/peer_channel.hpp"

#include <mpi.h>

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// What a rank tells a neighbour of its end of a channel. Sent as bytes: all ranks run one program.
struct Note {
  RemotePlace slots;             ///< of its ghosts, two of them
  std::uint64_t slot_bytes = 0;  ///< from the first to the second
  std::uint64_t first = 0;       ///< of the neighbour's rows among its ghosts
  RemotePlace arrived;           ///< flag that the neighbour sets behind its rows
  RemotePlace room;              ///< flag that the neighbour sets when it has read this rank's rows
  bool has_memory = false;
};

struct Neighbour {
  int rank = 0;
  bool sends = false;     ///< to us
  bool receives = false;  ///< from us
  LocalIndex first = 0;   ///< of its rows among our ghosts
  PeerStore::Flag arrived;
  PeerStore::Flag room;
  Note note;  ///< of its end
};

/// Where rows for a neighbour go.
struct Target {
  std::byte* slots = nullptr;
  std::size_t slot_bytes = 0;
  std::size_t first = 0;
};

class PeerChannel final : public Channel {
 public:
  PeerChannel(std::shared_ptr<PeerStore> store, std::shared_ptr<const HaloPlan> plan)
      : store_(std::move(store)),
        plan_(std::move(plan)),
        ready_(store_->device().make_order_event()),
        packed_(store_->device().make_order_event()),
        targets_(plan_->destinations().size()),
        sent_(targets_.size()),
        addresses_(targets_.size()),
        arrived_(plan_->sources().size()) {
    for (const auto& destination : plan_->destinations()) neighbour(destination.rank).receives = true;
    for (const auto& source : plan_->sources()) {
      Neighbour& each = neighbour(source.rank);
      each.sends = true;
      each.first = source.first;
    }
  }

  ~PeerChannel() override {
    give_up();
    if (stage_ != Stage::dead) store_->give_back(block_);
  }

  void reserve(std::size_t row_bytes) override {
    give_up();
    const Communicator& comm = store_->comm();
    comm.collectively([&] { require_alive(); });
    if (!comm.any(!connected_ || row_bytes > widest_)) return;
    // The same on all ranks, also where a neighbour's lack of memory has cut an earlier growth short.
    const auto widest =
        static_cast<std::size_t>(comm.max(static_cast<std::int64_t>(std::max(row_bytes, widest_))));
    comm.collectively([&] { make_room(widest); });
    exchange_notes(true);
    comm.collectively([&] { connect(); });
    widest_ = widest;
    connected_ = true;
  }

  std::span<std::byte* const> open(std::size_t row_bytes) override {
    give_up();
    require_alive();
    if (!connected_ || row_bytes > widest_) grow(row_bytes);
    ++round_;
    stage_ = Stage::open;
    row_bytes_ = row_bytes;
    for (std::size_t d = 0; d < targets_.size(); ++d) {
      const Target& target = targets_[d];
      addresses_[d] = target.slots + round_ % 2 * target.slot_bytes + target.first * row_bytes;
    }
    // Whoever read the last ghosts has done so; the slot that is written now was read before its reader's last
    // `open`, as a rule long ago.
    if (queue() == Queue::transfer) {
      store_->device().record(*ready_, Queue::compute);
      store_->device().wait(Queue::transfer, *ready_);
    }
    if (round_ > 1) store_->memory().set(with_value(read_, round_ - 1), queue());
    if (round_ > 2) store_->memory().wait(with_value(room_, round_ - 2), queue());
    return addresses_;
  }

  Queue queue() const override {
    return plan_->rows_to_send().size() * row_bytes_ <= in_line_bytes ? Queue::compute : Queue::transfer;
  }

  void send() override {
    store_->memory().set(with_value(sent_, round_), queue());
    if (queue() == Queue::transfer) store_->device().record(*packed_, Queue::transfer);
    stage_ = Stage::sent;
  }

  void progress() override {}

  const std::byte* receive() override {
    // The rows that were packed may change from now on, and flags stay in order.
    if (queue() == Queue::transfer) store_->device().wait(Queue::compute, *packed_);
    store_->memory().wait(with_value(arrived_, round_), Queue::compute);
    stage_ = Stage::idle;
    return block_.data + round_ % 2 * slot_bytes_;
  }

  void give_up() noexcept override {
    if (stage_ != Stage::open && stage_ != Stage::sent) return;
    try {
      // Neighbours that go on with the round, or give it up too, wait for these rows, whatever is in them.
      if (stage_ == Stage::open) send();
      // As `receive` does: flags stay in order, whichever queue the next round packs in.
      if (queue() == Queue::transfer) store_->device().wait(Queue::compute, *packed_);
      stage_ = all_arrived_in_time() ? Stage::idle : Stage::dead;
    } catch (const std::exception&) {
      stage_ = Stage::dead;
    }
    if (stage_ == Stage::dead) store_->break_off();
  }

 private:
  enum class Stage { idle, open, sent, dead };  ///< of the round

  /// Rows that are packed sooner than two queues have met.
  static constexpr std::size_t in_line_bytes = std::size_t{256} << 10;

  void require_alive() const {
    if (stage_ == Stage::dead) throw RunError("halo exchange: a neighbour did not answer an earlier one");
  }

  Neighbour& neighbour(int rank) {
    for (Neighbour& known : neighbours_) {
      if (known.rank == rank) return known;
    }
    neighbours_.emplace_back().rank = rank;
    return neighbours_.back();
  }

  static std::span<const Signal> with_value(std::vector<Signal>& signals, std::uint64_t value) {
    for (Signal& signal : signals) signal.value = value;
    return signals;
  }

  /// As `reserve`, among neighbours: where one of them has no memory, its neighbours throw as it does.
  void grow(std::size_t row_bytes) {
    std::exception_ptr failure;
    try {
      make_room(row_bytes);
    } catch (...) {
      failure = std::current_exception();
    }
    exchange_notes(!failure);
    if (failure) std::rethrow_exception(failure);
    connect();
    widest_ = row_bytes;
    connected_ = true;
  }

  /// This rank's end, which its neighbours have not heard of yet.
  void make_room(std::size_t row_bytes) {
    constexpr std::size_t alignment = 256;
    connected_ = false;
    widest_ = 0;
    // All rows of earlier rounds have arrived then and were read, here; neighbours send their notes when theirs
    // have, and nobody writes before it has all notes.
    store_->device().synchronize(Queue::compute);
    store_->device().synchronize(Queue::transfer);
    store_->give_back(std::exchange(block_, {}));
    for (Neighbour& each : neighbours_) {
      if (each.arrived.here == nullptr) each.arrived = store_->new_flag();
      if (each.room.here == nullptr) each.room = store_->new_flag();
    }
    const auto ghosts = static_cast<std::size_t>(plan_->ghosts());
    slot_bytes_ = (ghosts * std::max<std::size_t>(row_bytes, 1) + alignment - 1) / alignment * alignment;
    block_ = store_->take(2 * slot_bytes_);
  }

  void exchange_notes(bool has_memory) {
    constexpr int tag = 1;
    std::vector<Note> notes(neighbours_.size());
    std::vector<MPI_Request> requests(2 * neighbours_.size(), MPI_REQUEST_NULL);
    for (std::size_t n = 0; n < notes.size(); ++n) {
      Neighbour& each = neighbours_[n];
      if (has_memory) {
        notes[n] = {store_->place_of(block_), slot_bytes_,     static_cast<std::uint64_t>(each.first),
                    each.arrived.place,       each.room.place, true};
      }
      MPI_Irecv(&each.note, sizeof(Note), MPI_BYTE, each.rank, tag, store_->comm().handle(), &requests[2 * n]);
      MPI_Isend(&notes[n], sizeof(Note), MPI_BYTE, each.rank, tag, store_->comm().handle(), &requests[2 * n + 1]);
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }

  void connect() {
    for (const Neighbour& each : neighbours_) {
      if (!each.note.has_memory)
        throw RunError("halo exchange: rank " + std::to_string(each.rank) + " has no memory for its part");
    }
    const auto flag = [&](const RemotePlace& place) {
      return reinterpret_cast<std::uint64_t*>(store_->reach(place));
    };
    for (std::size_t d = 0; d < targets_.size(); ++d) {
      const Note& note = neighbour(plan_->destinations()[d].rank).note;
      targets_[d] = {store_->reach(note.slots), note.slot_bytes, note.first};
      sent_[d].flag = flag(note.arrived);
    }
    for (std::size_t s = 0; s < arrived_.size(); ++s) {
      arrived_[s].flag = neighbour(plan_->sources()[s].rank).arrived.here;
    }
    read_.clear();
    room_.clear();
    for (const Neighbour& each : neighbours_) {
      if (!each.receives) read_.push_back({flag(each.note.room), 0});
      if (!each.sends) room_.push_back({each.room.here, 0});
    }
  }

  bool all_arrived_in_time() {
    using Clock = std::chrono::steady_clock;
    const auto deadline = Clock::now() + store_->patience();
    for (std::size_t s = 0; s < arrived_.size();) {
      if (store_->memory().read(arrived_[s].flag) >= round_) {
        ++s;
      } else if (Clock::now() > deadline) {
        return false;
      } else {
        std::this_thread::yield();
      }
    }
    return true;
  }

  std::shared_ptr<PeerStore> store_;
  std::shared_ptr<const HaloPlan> plan_;
  std::unique_ptr<Event> ready_;
  std::unique_ptr<Event> packed_;
  std::vector<Neighbour> neighbours_;
  std::vector<Target> targets_;        ///< one a destination, as these
  std::vector<Signal> sent_;           ///< our rows are there
  std::vector<std::byte*> addresses_;  ///< of this round's rows there
  std::vector<Signal> arrived_;        ///< one a source: its rows are here
  // Rows of a round say that those of the round before last were read. Where rows go one way only, a flag goes the
  // other.
  std::vector<Signal> read_;  ///< of those who only send: their rows were read
  std::vector<Signal> room_;  ///< of those who only receive: our rows were read
  PeerStore::Block block_{};
  std::size_t slot_bytes_ = 0;
  std::size_t row_bytes_ = 0;
  std::size_t widest_ = 0;
  bool connected_ = false;
  std::uint64_t round_ = 0;
  Stage stage_ = Stage::idle;
};

}  // namespace

std::unique_ptr<Channel> make_peer_channel(std::shared_ptr<PeerStore> store,
                                           std::shared_ptr<const HaloPlan> plan) {
  return std::make_unique<PeerChannel>(std::move(store), std::move(plan));
}

}  // namespace block_eigs
