#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace block_eigs {

class NodeBoard;

/// The ranks that work on one problem. Owns a duplicate of an MPI communicator, freed with the last
/// copy; copies are cheap and stand for the same duplicate. Every member function is collective
/// unless it says otherwise. MPI must be initialised (MPI_THREAD_FUNNELED) and outlive it. Numbers that all ranks
/// learn of each other go through memory that they share, where they are on one node; else by MPI. Sums have the
/// same bits either way.
class Communicator {
 public:
  /// Duplicates `parent`. MPI errors on the duplicate print one sentence and end the job with exit code 3,
  /// whatever the error handler of `parent` is. `shared_memory`: whether ranks of one node may share memory.
  explicit Communicator(MPI_Comm parent, bool shared_memory = true);

  int rank() const { return rank_; }            ///< not collective
  int size() const { return size_; }            ///< not collective
  int node_rank() const { return node_rank_; }  ///< number of this rank within its node; not collective
  int node_size() const { return node_size_; }  ///< ranks on this node; not collective
  MPI_Comm handle() const { return *handle_; }  ///< not collective
  bool is_root() const { return rank_ == 0; }   ///< not collective

  /// Collective calls on this communicator so far that wait for other ranks, those of its copies too: for who
  /// wants to know what an algorithm asks of the network. Not collective.
  std::int64_t collectives() const { return counts_->all; }
  /// Of these, those that went through shared memory instead of MPI. Not collective.
  std::int64_t collectives_in_memory() const { return counts_->in_memory; }

  /// Element-wise sum over all ranks, in place: the parts are added in rank order, so that the result has the same
  /// bits on all ranks, in all runs and with all MPI libraries. One message (all ranks get all parts) while that
  /// brings a rank no more than 256 KiB beside what it has to get; else two MPI calls, in which every rank adds
  /// the parts of its share and all get the shares.
  void sum(std::span<double> values) const;
  void sum(std::span<std::int64_t> values) const;
  std::int64_t sum(std::int64_t value) const;
  double sum(double value) const;
  /// A value that is not a number counts where it is rank 0's.
  double max(double value) const;
  std::int64_t max(std::int64_t value) const;
  bool any(bool value) const;

  /// Rank 0's bytes, values or text on every rank.
  void broadcast(std::span<double> values) const;
  std::string broadcast(std::string text) const;

  /// One value of every rank, in rank order, on all ranks.
  std::vector<std::int64_t> all_gather(std::int64_t value) const;
  std::vector<double> all_gather(double value) const;

  /// Sends outgoing[r] to rank r; returns what every rank r sent here. Messages may be empty.
  std::vector<std::vector<std::int64_t>> all_to_all(const std::vector<std::vector<std::int64_t>>& outgoing) const;
  std::vector<std::vector<double>> all_to_all(const std::vector<std::vector<double>>& outgoing) const;
  /// The same where both sides know how much is sent, into memory that is there. What goes to rank r is `outgoing`
  /// from sent_from[r] to sent_from[r + 1], and what it sends here comes to `incoming` from put_from[r] to
  /// put_from[r + 1]; both have size() + 1 numbers.
  void all_to_all(std::span<const double> outgoing, std::span<const std::int64_t> sent_from,
                  std::span<double> incoming, std::span<const std::int64_t> put_from) const;

  void barrier() const;

  /// Runs `step` on every rank; `step` may fail on some ranks alone and must not itself communicate
  /// where it can. Either it succeeds everywhere, or every rank throws an error that is OnAllRanks: the lowest
  /// rank that failed its own one as Agreed, all others a RemoteError with that rank's exit code.
  void collectively(const std::function<void()>& step) const;

 private:
  struct Counts {
    std::int64_t all = 0;
    std::int64_t in_memory = 0;
  };

  /// The handle of a call that all ranks make.
  MPI_Comm counted() const {
    ++counts_->all;
    return handle();
  }
  void sum_parts(std::span<double> values) const;
  template <class T>
  std::vector<T> gather_one(T value) const;

  std::shared_ptr<MPI_Comm> handle_;
  std::shared_ptr<NodeBoard> board_;  ///< null where ranks are on several nodes, or alone
  std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
  int rank_ = 0;
  int size_ = 1;
  int node_rank_ = 0;
  int node_size_ = 1;
};

}  // namespace block_eigs
