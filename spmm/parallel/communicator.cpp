#include "spmm/parallel/communicator.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <limits>
#include <numeric>

#include "spmm/device/address_space.hpp"
#include "spmm/error.hpp"
#include "spmm/parallel/job_end.hpp"
#include "spmm/parallel/node_board.hpp"
#include "spmm/parallel/pieces.hpp"

namespace block_eigs {

namespace {

MPI_Datatype mpi_type(double) { return MPI_DOUBLE; }
MPI_Datatype mpi_type(std::int64_t) { return MPI_INT64_T; }

/// Bytes that a rank may get beside what it has to, for one message instead of two. About what passes between two
/// processes while a message is on its way.
constexpr std::size_t bearable_bytes = std::size_t{256} << 10;
/// Numbers that are summed at a time, which bounds the memory for the parts.
constexpr std::size_t most_summed = std::size_t{1} << 20;

/// sums = the parts of all ranks, one behind the other, added in rank order.
void add_in_order(std::span<const double> parts, std::span<double> sums) {
  std::copy_n(parts.begin(), sums.size(), sums.begin());
  for (std::size_t first = sums.size(); first < parts.size(); first += sums.size()) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += parts[first + i];
  }
}

/// Point-to-point in pieces, so that neither counts nor displacements overflow int. `receive` and `send` say where
/// what comes from a rank and goes to it lies.
template <class T, class Receive, class Send>
void post_all(MPI_Comm comm, int size, const Receive& receive, const Send& send) {
  std::vector<MPI_Request> requests;
  for (int r = 0; r < size; ++r) {
    const std::span<T> target = receive(static_cast<std::size_t>(r));
    in_pieces(target.size(), [&](std::size_t first, int count) {
      MPI_Irecv(target.data() + first, count, mpi_type(T{}), r, 0, comm, &requests.emplace_back());
    });
  }
  for (int r = 0; r < size; ++r) {
    const std::span<const T> source = send(static_cast<std::size_t>(r));
    in_pieces(source.size(), [&](std::size_t first, int count) {
      MPI_Isend(source.data() + first, count, mpi_type(T{}), r, 0, comm, &requests.emplace_back());
    });
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

template <class T>
std::vector<std::vector<T>> exchange(MPI_Comm comm, int size, const std::vector<std::vector<T>>& outgoing) {
  std::vector<std::int64_t> send_counts(static_cast<std::size_t>(size));
  std::vector<std::int64_t> receive_counts(send_counts.size());
  for (std::size_t r = 0; r < send_counts.size(); ++r)
    send_counts[r] = static_cast<std::int64_t>(outgoing[r].size());
  MPI_Alltoall(send_counts.data(), 1, MPI_INT64_T, receive_counts.data(), 1, MPI_INT64_T, comm);

  std::vector<std::vector<T>> incoming(send_counts.size());
  const auto receive = [&](std::size_t r) {
    incoming[r].resize(static_cast<std::size_t>(receive_counts[r]));
    return std::span<T>(incoming[r]);
  };
  post_all<T>(comm, size, receive, [&](std::size_t r) { return std::span<const T>(outgoing[r]); });
  return incoming;
}

/// The r-th of the parts that lie one behind the other in `values`, part r from `begins[r]` to `begins[r + 1]`.
template <class T>
std::span<T> part(std::span<T> values, std::span<const std::int64_t> begins, std::size_t r) {
  return values.subspan(static_cast<std::size_t>(begins[r]), static_cast<std::size_t>(begins[r + 1] - begins[r]));
}

}  // namespace

Communicator::Communicator(MPI_Comm parent, bool shared_memory) {
  auto* duplicate = new MPI_Comm(MPI_COMM_NULL);
  handle_ = std::shared_ptr<MPI_Comm>(duplicate, [](MPI_Comm* comm) {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0 && *comm != MPI_COMM_NULL) MPI_Comm_free(comm);
    delete comm;
  });
  if (MPI_Comm_dup(parent, duplicate) != MPI_SUCCESS) throw RunError("MPI: a communicator cannot be duplicated");
  // A duplicate inherits the handler of its parent, which may return errors that nobody looks at.
  end_job_on_errors(*duplicate);
  MPI_Comm_rank(*duplicate, &rank_);
  MPI_Comm_size(*duplicate, &size_);
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(*duplicate, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node);
  end_job_on_errors(node);
  MPI_Comm_rank(node, &node_rank_);
  MPI_Comm_size(node, &node_size_);
  MPI_Comm_free(&node);
  if (shared_memory && size_ > 1 && node_size_ == size_) board_ = NodeBoard::make(*duplicate);
}

/// One part of every rank to every rank, added in rank order. Collective.
void Communicator::sum_parts(std::span<double> values) const {
  if (!board_) {
    const auto count = static_cast<int>(values.size());
    std::vector<double> parts(static_cast<std::size_t>(size_) * values.size());
    MPI_Allgather(values.data(), count, MPI_DOUBLE, parts.data(), count, MPI_DOUBLE, counted());
    return add_in_order(parts, values);
  }
  ++counts_->all;
  ++counts_->in_memory;
  const auto sum_piece = [&](std::size_t first, int count) {
    const std::span<double> piece = values.subspan(first, static_cast<std::size_t>(count));
    bool begun = false;
    board_->gather(std::as_bytes(piece), [&](std::span<const std::byte> bytes) {
      const auto* part = reinterpret_cast<const double*>(bytes.data());
      for (std::size_t i = 0; i < piece.size(); ++i) piece[i] = begun ? piece[i] + part[i] : part[i];
      begun = true;
    });
  };
  in_pieces(values.size(), sum_piece, NodeBoard::capacity / sizeof(double));
}

template <class T>
std::vector<T> Communicator::gather_one(T value) const {
  std::vector<T> all;
  all.reserve(static_cast<std::size_t>(size_));
  if (board_) {
    ++counts_->all;
    ++counts_->in_memory;
    board_->gather(std::as_bytes(std::span(&value, 1)), [&](std::span<const std::byte> part) {
      std::memcpy(&all.emplace_back(), part.data(), sizeof(T));
    });
  } else {
    all.resize(static_cast<std::size_t>(size_));
    MPI_Allgather(&value, 1, mpi_type(T{}), all.data(), 1, mpi_type(T{}), counted());
  }
  return all;
}

void Communicator::sum(std::span<double> values) const {
  if (size_ == 1) return;
  const auto ranks = static_cast<std::size_t>(size_);
  const auto sum_piece = [&](std::size_t first, int count) {
    const std::span<double> piece = values.subspan(first, static_cast<std::size_t>(count));
    if ((ranks - 2) * piece.size_bytes() <= bearable_bytes) return sum_parts(piece);
    const std::size_t share = (piece.size() + ranks - 1) / ranks;
    std::vector<double> all(ranks * share, 0.0), parts(ranks * share), sums(share);
    std::copy(piece.begin(), piece.end(), all.begin());
    const auto length = static_cast<int>(share);
    MPI_Alltoall(all.data(), length, MPI_DOUBLE, parts.data(), length, MPI_DOUBLE, counted());
    add_in_order(parts, sums);
    MPI_Allgather(sums.data(), length, MPI_DOUBLE, all.data(), length, MPI_DOUBLE, counted());
    std::copy_n(all.begin(), piece.size(), piece.begin());
  };
  in_pieces(values.size(), sum_piece, most_summed);
}

void Communicator::sum(std::span<std::int64_t> values) const {
  if (size_ == 1) return;
  in_pieces(values.size(), [&](std::size_t first, int count) {
    MPI_Allreduce(MPI_IN_PLACE, values.data() + first, count, MPI_INT64_T, MPI_SUM, counted());
  });
}

std::int64_t Communicator::sum(std::int64_t value) const {
  if (board_) {
    const std::vector<std::int64_t> all = gather_one(value);
    return std::accumulate(all.begin(), all.end(), std::int64_t{0});
  }
  sum(std::span(&value, 1));
  return value;
}

double Communicator::sum(double value) const {
  sum(std::span(&value, 1));
  return value;
}

double Communicator::max(double value) const {
  if (size_ == 1) return value;
  const std::vector<double> all = all_gather(value);
  return std::accumulate(all.begin(), all.end(), all.front(), [](double a, double b) { return std::max(a, b); });
}

std::int64_t Communicator::max(std::int64_t value) const {
  if (size_ == 1) return value;
  if (board_) {
    const std::vector<std::int64_t> all = gather_one(value);
    return *std::max_element(all.begin(), all.end());
  }
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_MAX, counted());
  return value;
}

bool Communicator::any(bool value) const { return max(std::int64_t{value ? 1 : 0}) != 0; }

void Communicator::broadcast(std::span<double> values) const {
  in_pieces(values.size(), [&](std::size_t first, int count) {
    MPI_Bcast(values.data() + first, count, MPI_DOUBLE, 0, counted());
  });
}

std::string Communicator::broadcast(std::string text) const {
  auto length = static_cast<std::int64_t>(text.size());
  MPI_Bcast(&length, 1, MPI_INT64_T, 0, counted());
  text.resize(static_cast<std::size_t>(length));
  in_pieces(text.size(),
            [&](std::size_t first, int count) { MPI_Bcast(text.data() + first, count, MPI_CHAR, 0, counted()); });
  return text;
}

std::vector<std::int64_t> Communicator::all_gather(std::int64_t value) const { return gather_one(value); }

std::vector<double> Communicator::all_gather(double value) const { return gather_one(value); }

std::vector<std::vector<std::int64_t>> Communicator::all_to_all(
    const std::vector<std::vector<std::int64_t>>& outgoing) const {
  return exchange(counted(), size_, outgoing);
}

std::vector<std::vector<double>> Communicator::all_to_all(const std::vector<std::vector<double>>& outgoing) const {
  return exchange(counted(), size_, outgoing);
}

void Communicator::all_to_all(std::span<const double> outgoing, std::span<const std::int64_t> sent_from,
                              std::span<double> incoming, std::span<const std::int64_t> put_from) const {
  post_all<double>(
      counted(), size_, [&](std::size_t r) { return part(incoming, put_from, r); },
      [&](std::size_t r) { return part(outgoing, sent_from, r); });
}

void Communicator::barrier() const { MPI_Barrier(counted()); }

void Communicator::collectively(const std::function<void()>& step) const {
  std::exception_ptr failure;
  auto code = static_cast<std::int64_t>(ExitCode::run_failed);
  try {
    try {
      agreeing(step);
    } catch (const Error&) {
      throw;
    } catch (const std::bad_alloc&) {
      throw Agreed<RunError>(of_memory(RunError("out of host memory" + address_space_remark())));
    } catch (const std::exception& error) {
      throw Agreed<RunError>(RunError(error.what()));
    }
  } catch (const Error& error) {
    code = static_cast<std::int64_t>(error.exit_code());
    failure = std::current_exception();
  }
  // The lowest failed rank and its exit code in one reduction: rank * 256 + code, negated for MPI_MAX.
  const std::int64_t mine =
      failure ? -(std::int64_t{rank_} * 256 + code) : std::numeric_limits<std::int64_t>::min();
  const std::int64_t lowest = max(mine);
  if (lowest == std::numeric_limits<std::int64_t>::min()) return;
  const int failed_rank = static_cast<int>(-lowest / 256);
  const auto its_code = static_cast<ExitCode>(-lowest % 256);
  // No answer to this question: others have asked another one.
  const bool sense = lowest < 0 && failed_rank < size_ && its_code != ExitCode::success;
  if (!sense) throw RunError("the ranks are not at the same place: they have seen different things");
  if (failed_rank == rank_) std::rethrow_exception(failure);
  throw RemoteError(failed_rank, its_code);
}

}  // namespace block_eigs
