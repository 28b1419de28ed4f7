#include "solver/factors/mumps.hpp"

#include <dmumps_c.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "spmm/error.hpp"

namespace block_eigs::factors {

namespace {

enum Job { begin = -1, end = -2, analysis = 1, factorisation = 2, solution = 3 };

constexpr int symmetric_indefinite = 2;
constexpr std::int64_t columns_at_a_time = 32;  // as MUMPS takes them where nothing is said

}  // namespace

struct Mumps::Instance {
  DMUMPS_STRUC_C id{};
  // What MUMPS reads and writes by pointers in `id`.
  std::vector<int> own_rows;      ///< of right-hand sides on several ranks
  std::vector<int> pivot_rows;    ///< that the calling rank's part of a solution has
  std::vector<double> at_pivots;  ///< that part
  LocalIndex reserved = 0;        ///< columns

  /// By the numbers of its manual, which counts from 1.
  MUMPS_INT& control(int number) { return id.icntl[number - 1]; }
  MUMPS_INT info(int number) const { return id.info[number - 1]; }
  MUMPS_INT info_of_all(int number) const { return id.infog[number - 1]; }

  void run(Job job) {
    id.job = job;
    dmumps_c(&id);
  }

  /// MUMPS reads the entries during the call; later jobs, as they are used here, do not look at them again.
  void run_on(Job job, Triangle& matrix) {
    id.nnz_loc = static_cast<MUMPS_INT8>(matrix.values.size());
    id.irn_loc = matrix.rows.data();
    id.jcn_loc = matrix.columns.data();
    id.a_loc = matrix.values.data();
    run(job);
    id.irn_loc = id.jcn_loc = nullptr;
    id.a_loc = nullptr;
  }

  /// Where pivots, and with them rows of solutions, lie on this rank.
  std::size_t pivots_here() const { return static_cast<std::size_t>(info(23)); }
};

Mumps::Mumps(const Communicator& comm, const Partition& partition, Ordering ordering, int spare)
    : comm_(comm), ends_(comm.handle(), false), partition_(partition), exceptions_(std::uncaught_exceptions()) {
  comm.collectively([&] {
    instance_ = std::make_unique<Instance>();
    if (comm.size() == 1) return;
    instance_->own_rows.resize(static_cast<std::size_t>(partition.size(comm.rank())));
    std::iota(instance_->own_rows.begin(), instance_->own_rows.end(),
              static_cast<int>(partition.begin(comm.rank())) + 1);
  });
  Instance& mumps = *instance_;
  mumps.id.par = 1;  // rank 0 works as well
  mumps.id.sym = symmetric_indefinite;
  mumps.id.comm_fortran = static_cast<MUMPS_INT>(MPI_Comm_c2f(comm.handle()));
  mumps.run(begin);
  if (mumps.info_of_all(1) < 0)
    throw Agreed<RunError>(RunError("starting MUMPS failed (INFOG(1) = " + std::to_string(code()) + ")"));
  for (const int stream : {1, 2, 3}) mumps.control(stream) = -1;
  mumps.control(4) = 0;   // nothing is printed
  mumps.control(13) = 1;  // the root on one process: else its pivots are not counted
  mumps.control(14) = spare;
  mumps.control(18) = 3;  // each rank gives its own entries
  mumps.control(24) = 1;  // pivots that are zero are found and counted
  mumps.control(28) = 1;  // the analysis on rank 0, which is the same on any number of ranks
  if (ordering == Ordering::minimum_degree) mumps.control(7) = 0;
  if (comm.size() > 1) {
    mumps.control(20) = 10;  // right-hand sides come from their owners
    mumps.control(21) = 1;   // and solutions stay where their pivots are
    // Right-hand sides at a time: up to MUMPS 5.6 places in them are counted in 32 bits.
    const std::int64_t longest = std::max<std::int64_t>(1, comm.max(std::int64_t{partition.size(comm.rank())}));
    mumps.control(27) = -static_cast<MUMPS_INT>(
        std::clamp<std::int64_t>(std::numeric_limits<int>::max() / longest, 1, columns_at_a_time));
  }
  mumps.id.n = static_cast<MUMPS_INT>(partition.rows());
}

Mumps::~Mumps() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0 || !instance_) return;
  try {
    if (all_arrive()) {
      instance_->run(end);
    } else {
      static_cast<void>(instance_.release());  // whose memory MUMPS still refers to
    }
  } catch (...) {  // by error handlers of MPI that throw: the job is about to end
    static_cast<void>(instance_.release());
  }
}

/// Whether all ranks come to the end. Where an exception ends this, others may be somewhere else, waiting for this
/// rank: it must not wait for them for ever, so that somebody says what happened.
bool Mumps::all_arrive() const {
  using Clock = std::chrono::steady_clock;
  if (comm_.size() == 1 || std::uncaught_exceptions() <= exceptions_) return true;
  constexpr auto patience = std::chrono::seconds(5);
  const auto deadline = Clock::now() + patience;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(ends_.handle(), &request);
  int all_here = 0;
  while (MPI_Test(&request, &all_here, MPI_STATUS_IGNORE), all_here == 0) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

void Mumps::analyse(Triangle& matrix) { instance_->run_on(analysis, matrix); }

void Mumps::factorize(Triangle& matrix) {
  delivery_.reset();
  instance_->run_on(factorisation, matrix);
  if (comm_.size() == 1 || failure() != Failure::none) return;
  // A sequential library under the name of the other one works on each rank's entries alone, and says nothing.
  const std::int64_t pivots = comm_.sum(static_cast<std::int64_t>(instance_->pivots_here()));
  if (pivots == partition_.rows()) return;
  throw Agreed<RunError>(RunError(
      "the MUMPS of this build works on each rank by itself: it is the sequential one, or not of this MPI; "
      "build with another one, or take one rank"));
}

int Mumps::code() const { return instance_->info_of_all(1); }

Mumps::Failure Mumps::failure() const {
  const int code = this->code();
  if (code >= 0) return Failure::none;
  // Integer and real work space, and what passes between ranks.
  constexpr std::array more_mends = {-8, -9, -17, -20};
  for (const int one : more_mends) {
    if (code == one) return Failure::pivots;
  }
  constexpr std::array memory = {-5, -7, -11, -12, -13, -14, -15, -19};
  for (const int one : memory) {
    if (code == one) return Failure::memory;
  }
  return Failure::other;
}

Mumps::Foreseen Mumps::foreseen() const {
  constexpr double million = 1e6;  // large counts are given in millions, as negative numbers
  const double entries = instance_->info_of_all(20);
  return {million * instance_->info(15), entries < 0.0 ? -million * entries : entries, instance_->id.rinfog[0]};
}

Mumps::Pivots Mumps::pivots() const {
  const std::int64_t negative = instance_->info_of_all(12);
  const std::int64_t zero = instance_->info_of_all(28);
  return {negative, zero, partition_.rows() - negative - zero};
}

void Mumps::reserve(LocalIndex columns) {
  if (comm_.size() == 1) return;
  Instance& mumps = *instance_;
  comm_.collectively([&] {
    mumps.reserved = std::max(mumps.reserved, columns);
    // One number at least, so that there is an address.
    mumps.pivot_rows.resize(mumps.pivots_here() + 1);
    const std::size_t size = mumps.pivots_here() * static_cast<std::size_t>(mumps.reserved) + 1;
    if (mumps.at_pivots.size() < size) mumps.at_pivots.resize(size);
  });
  if (delivery_) delivery_->reserve(mumps.reserved);
}

void Mumps::solve(double* block, LocalIndex columns) {
  if (columns == 0) return;
  Instance& mumps = *instance_;
  const LocalIndex own = partition_.size(comm_.rank());
  mumps.id.nrhs = columns;
  if (comm_.size() == 1) {
    mumps.id.rhs = block;
    mumps.id.lrhs = own;
    mumps.run(solution);
    mumps.id.rhs = nullptr;
    return;
  }
  if (columns > mumps.reserved || !delivery_) reserve(columns);
  const auto stride = std::max<std::ptrdiff_t>(1, static_cast<std::ptrdiff_t>(mumps.pivots_here()));
  mumps.id.nloc_rhs = own;
  mumps.id.lrhs_loc = std::max(own, 1);
  mumps.id.irhs_loc = mumps.own_rows.data();
  mumps.id.rhs_loc = block;
  mumps.id.lsol_loc = static_cast<MUMPS_INT>(stride);
  mumps.id.isol_loc = mumps.pivot_rows.data();
  mumps.id.sol_loc = mumps.at_pivots.data();
  mumps.run(solution);
  if (failure() != Failure::none) return;
  // Where pivots lie is said by the first solve with them.
  if (!delivery_) {
    delivery_.emplace(comm_, partition_, std::span<const int>(mumps.pivot_rows).first(mumps.pivots_here()));
    delivery_->reserve(mumps.reserved);
  }
  delivery_->deliver(mumps.at_pivots.data(), stride, columns, block, own);
}

}  // namespace block_eigs::factors
