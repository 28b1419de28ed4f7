#include "spmm/parallel/communicator.hpp"

#include <array>
#include <cstdio>
#include <exception>
#include <limits>

#include "spmm/device/address_space.hpp"
#include "spmm/error.hpp"
#include "spmm/parallel/pieces.hpp"

namespace block_eigs {

namespace {

MPI_Datatype mpi_type(double) { return MPI_DOUBLE; }
MPI_Datatype mpi_type(std::int64_t) { return MPI_INT64_T; }

/// Reduce and broadcast, not MPI_Allreduce: its result need not be bit-equal on all ranks.
template <class T>
void reduce_to_all(MPI_Comm comm, std::span<T> values, MPI_Op op) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (size == 1 || values.empty()) return;
  in_pieces(values.size(), [&](std::size_t first, int count) {
    T* const piece = values.data() + first;
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : piece, piece, count, mpi_type(T{}), op, 0, comm);
    MPI_Bcast(piece, count, mpi_type(T{}), 0, comm);
  });
}

template <class T>
std::vector<T> gather_one(MPI_Comm comm, int size, T value) {
  std::vector<T> all(static_cast<std::size_t>(size));
  MPI_Allgather(&value, 1, mpi_type(T{}), all.data(), 1, mpi_type(T{}), comm);
  return all;
}

/// Point-to-point in pieces, so that neither counts nor displacements overflow int.
template <class T>
std::vector<std::vector<T>> exchange(MPI_Comm comm, int size, const std::vector<std::vector<T>>& outgoing) {
  std::vector<std::int64_t> send_counts(static_cast<std::size_t>(size));
  std::vector<std::int64_t> receive_counts(send_counts.size());
  for (std::size_t r = 0; r < send_counts.size(); ++r)
    send_counts[r] = static_cast<std::int64_t>(outgoing[r].size());
  MPI_Alltoall(send_counts.data(), 1, MPI_INT64_T, receive_counts.data(), 1, MPI_INT64_T, comm);

  std::vector<std::vector<T>> incoming(send_counts.size());
  std::vector<MPI_Request> requests;
  for (int r = 0; r < size; ++r) {
    auto& target = incoming[static_cast<std::size_t>(r)];
    target.resize(static_cast<std::size_t>(receive_counts[static_cast<std::size_t>(r)]));
    in_pieces(target.size(), [&](std::size_t first, int count) {
      MPI_Irecv(target.data() + first, count, mpi_type(T{}), r, 0, comm, &requests.emplace_back());
    });
  }
  for (int r = 0; r < size; ++r) {
    const auto& source = outgoing[static_cast<std::size_t>(r)];
    in_pieces(source.size(), [&](std::size_t first, int count) {
      MPI_Isend(source.data() + first, count, mpi_type(T{}), r, 0, comm, &requests.emplace_back());
    });
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  return incoming;
}

/// Says what has failed and ends the job.
void end_the_job(MPI_Comm* comm, int* error, ...) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  int rank = 0;
  MPI_Error_string(*error, text.data(), &length);
  MPI_Comm_rank(*comm, &rank);
  std::fprintf(stderr, "block-eigs: error: MPI failed on rank %d: %s\n", rank, text.data());
  std::fflush(stderr);
  MPI_Abort(*comm, static_cast<int>(ExitCode::run_failed));
}

/// A duplicate inherits the handler of its parent, which may return errors that nobody looks at.
void make_errors_fatal(MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(end_the_job, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Errhandler_free(&handler);  // lives as long as the communicator
}

}  // namespace

Communicator::Communicator(MPI_Comm parent) {
  auto* duplicate = new MPI_Comm(MPI_COMM_NULL);
  handle_ = std::shared_ptr<MPI_Comm>(duplicate, [](MPI_Comm* comm) {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0 && *comm != MPI_COMM_NULL) MPI_Comm_free(comm);
    delete comm;
  });
  if (MPI_Comm_dup(parent, duplicate) != MPI_SUCCESS) throw RunError("MPI: a communicator cannot be duplicated");
  make_errors_fatal(*duplicate);
  MPI_Comm_rank(*duplicate, &rank_);
  MPI_Comm_size(*duplicate, &size_);
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(*duplicate, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node);
  make_errors_fatal(node);
  MPI_Comm_rank(node, &node_rank_);
  MPI_Comm_size(node, &node_size_);
  MPI_Comm_free(&node);
}

void Communicator::sum(std::span<double> values) const { reduce_to_all(handle(), values, MPI_SUM); }
void Communicator::sum(std::span<std::int64_t> values) const { reduce_to_all(handle(), values, MPI_SUM); }

std::int64_t Communicator::sum(std::int64_t value) const {
  reduce_to_all(handle(), std::span(&value, 1), MPI_SUM);
  return value;
}

double Communicator::sum(double value) const {
  reduce_to_all(handle(), std::span(&value, 1), MPI_SUM);
  return value;
}

double Communicator::max(double value) const {
  reduce_to_all(handle(), std::span(&value, 1), MPI_MAX);
  return value;
}

std::int64_t Communicator::max(std::int64_t value) const {
  reduce_to_all(handle(), std::span(&value, 1), MPI_MAX);
  return value;
}

bool Communicator::any(bool value) const { return max(std::int64_t{value ? 1 : 0}) != 0; }

void Communicator::broadcast(std::span<double> values) const {
  in_pieces(values.size(), [&](std::size_t first, int count) {
    MPI_Bcast(values.data() + first, count, MPI_DOUBLE, 0, handle());
  });
}

std::string Communicator::broadcast(std::string text) const {
  auto length = static_cast<std::int64_t>(text.size());
  MPI_Bcast(&length, 1, MPI_INT64_T, 0, handle());
  text.resize(static_cast<std::size_t>(length));
  in_pieces(text.size(),
            [&](std::size_t first, int count) { MPI_Bcast(text.data() + first, count, MPI_CHAR, 0, handle()); });
  return text;
}

std::vector<std::int64_t> Communicator::all_gather(std::int64_t value) const {
  return gather_one(handle(), size_, value);
}

std::vector<double> Communicator::all_gather(double value) const { return gather_one(handle(), size_, value); }

std::vector<std::vector<std::int64_t>> Communicator::all_to_all(
    const std::vector<std::vector<std::int64_t>>& outgoing) const {
  return exchange(handle(), size_, outgoing);
}

std::vector<std::vector<double>> Communicator::all_to_all(const std::vector<std::vector<double>>& outgoing) const {
  return exchange(handle(), size_, outgoing);
}

void Communicator::barrier() const { MPI_Barrier(handle()); }

void Communicator::collectively(const std::function<void()>& step) const {
  std::exception_ptr failure;
  auto code = static_cast<std::int64_t>(ExitCode::run_failed);
  try {
    try {
      step();
    } catch (const OnAllRanks&) {
      throw;
    } catch (const InputError& error) {
      throw Agreed<InputError>(error);
    } catch (const RunError& error) {
      throw Agreed<RunError>(error);
    } catch (const std::bad_alloc&) {
      throw Agreed<RunError>(RunError("out of host memory" + address_space_remark()));
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
  if (failed_rank == rank_) std::rethrow_exception(failure);
  throw RemoteError(failed_rank, static_cast<ExitCode>(-lowest % 256));
}

}  // namespace block_eigs
