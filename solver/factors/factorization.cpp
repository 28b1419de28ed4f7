#include "solver/factors/factorization.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "solver/factors/mumps.hpp"
#include "solver/factors/triangle.hpp"
#include "spmm/device/address_space.hpp"
#include "spmm/device/memory_left.hpp"
#include "spmm/error.hpp"

namespace block_eigs::factors {

namespace {

constexpr const char* factorising = "factorising A - sigma B";
/// That rank 0 takes for an entry of all ranks' triangles while the analysis is made. By measurement.
constexpr double analysis_bytes = 80.0;

/// Whether some row is so much longer than the others that it is a neighbour of whole parts of the graph.
/// Collective.
bool has_hubs(const Communicator& comm, const CsrRows& a) {
  constexpr double long_row = 64.0;
  constexpr double means = 16.0;
  Offset longest = 0;
  for (std::size_t i = 0; i + 1 < a.row_offsets.size(); ++i)
    longest = std::max(longest, a.row_offsets[i + 1] - a.row_offsets[i]);
  const double mean = static_cast<double>(comm.sum(std::int64_t{a.nonzeros()})) /
                      static_cast<double>(std::max<GlobalIndex>(a.global_rows, 1));
  const auto most = static_cast<double>(comm.max(static_cast<GlobalIndex>(longest)));
  return most > long_row && most > means * mean;
}

/// In units that memory is spoken of in.
std::string megabytes(double bytes) { return std::to_string(static_cast<std::int64_t>(bytes / 1e6) + 1) + " MB"; }

}  // namespace

bool available() { return true; }

void require_available(const Communicator&, const Use&) {}

struct Factorization::State {
  Communicator comm;
  Partition partition;
  Use use;
  bool has_hubs = false;
  double own_entries = 0.0;  ///< of the triangle
  double all_entries = 0.0;
  std::unique_ptr<Mumps> mumps{};
  int spare = Factorization::least_spare;
  std::optional<Ordering> ordering{};  ///< the one with the fewest operations, once it is known
  FactorSize size{};
  double held = 0.0;  ///< bytes of the last factors, which MUMPS gives back before it makes others
  double to_be_held = 0.0;

  RunError failure(const std::string& what) const {
    return RunError(what + "; " + use.instead + ", or more nodes");
  }

  /// Of A - sigma B; throws on all ranks. Collective.
  Triangle triangle(const CsrRows& a, const CsrRows* b, double sigma) const {
    Triangle result;
    comm.collectively([&] { result = shifted_triangle(a, b, sigma); });
    return result;
  }

  /// A new analysis, with what `spare` says. What MUMPS orders by on its own takes minutes on graphs
  /// without small separators, whose factors nobody could hold, and where a hub is a neighbour of all rows: it is
  /// asked only where minimum degree, which takes seconds, finds factors that are within reach and of which there
  /// is something to be saved. Collective.
  void analyse(Triangle& matrix) {
    constexpr double too_many_operations = 1e14;
    constexpr double too_much_fill = 1200.0;   // 500 to 800 for grids in three dimensions of a million rows
    constexpr double few_operations = 4000.0;  // of an entry of the triangle; grids of a million rows in the plane
    if (!ordering) {
      ordering = Ordering::minimum_degree;
      analyse_in_order(matrix);
      const double flops = size.flops;
      if (flops > too_many_operations || size.entries > too_much_fill * all_entries) return;
      if (has_hubs || flops < few_operations * all_entries) return;
      ordering = Ordering::chosen_by_mumps;
      analyse_in_order(matrix);
      if (mumps->failure() == Mumps::Failure::none && size.flops <= flops) return;
      ordering = Ordering::minimum_degree;
    }
    analyse_in_order(matrix);
  }

  void analyse_in_order(Triangle& matrix) {
    mumps.reset();
    mumps = std::make_unique<Mumps>(comm, partition, *ordering, spare);
    mumps->analyse(matrix);
    const Mumps::Foreseen foreseen = mumps->foreseen();
    to_be_held = foreseen.bytes;
    size = {to_be_held + Triangle::entry_bytes * own_entries, foreseen.entries, foreseen.flops};
  }

  /// Throws what MUMPS has to complain about, on all ranks.
  void check_state(const char* what) const {
    const Mumps::Failure reason = mumps->failure();
    if (reason == Mumps::Failure::none) return;
    const bool memory = reason != Mumps::Failure::other;
    const char* const why = reason == Mumps::Failure::memory ? ": out of memory"
                            : reason == Mumps::Failure::pivots
                                ? ": so many pivots were put off that factors outgrew the room made for them"
                                : " failed";
    const RunError error =
        failure(std::string(what) + why + " (MUMPS INFOG(1) = " + std::to_string(mumps->code()) + ")");
    throw Agreed<RunError>(memory ? of_memory(error) : error);
  }

  /// Collective: throws on all ranks where `bytes`, of the calling rank, are more than it or its node has left.
  void require_memory(double bytes) const {
    const auto own = static_cast<double>(address_space_left());
    const double most = comm.max(bytes);
    const std::string needed =
        std::string(factorising) + " would take " + megabytes(most) + " of memory a rank, and ";
    if (comm.any(bytes > own))
      throw_of_memory(needed + megabytes(-comm.max(-own)) + " are left" + address_space_remark());
    // Rank 0 may take more than others.
    const double of_node = std::max(bytes, comm.sum(bytes) / comm.size() * comm.node_size());
    const double own_left = shared_memory_left();
    const double left = -comm.max(-own_left);
    if (comm.any(of_node > own_left))
      throw_of_memory(needed + "no more than " + megabytes(left) + " are left for all ranks of a node");
  }

  /// After a failure: another factorisation begins as the first one did, from what MUMPS takes at least.
  void forget(const FactorSize& first) {
    mumps.reset();
    spare = least_spare;
    size = first;
    held = 0.0;
  }

  /// With up to `most` per cent to spare. Collective; throws as factorize does.
  void eliminate(const Factorization& whole, Triangle& matrix, int most) {
    if (!mumps) {
      analyse(matrix);
      check_state(factorising);
    }
    held = 0.0;
    mumps->factorize(matrix);
    while (mumps->failure() == Mumps::Failure::pivots && spare < most) {
      spare *= 8;
      analyse(matrix);
      check_state(factorising);
      whole.require_memory();
      mumps->factorize(matrix);
    }
    check_state(factorising);
    held = to_be_held;
  }

  [[noreturn]] void throw_of_memory(const std::string& what) const {
    throw Agreed<RunError>(of_memory(failure(what)));
  }
};

Factorization::Factorization(const Communicator& comm, const CsrRows& a, const CsrRows* b,
                             const Partition& partition, const Use& use)
    : state_(new State{comm, partition, use, factors::has_hubs(comm, a)}) {
  constexpr GlobalIndex most_rows =
      std::numeric_limits<int>::max() / 3;  // it counts three numbers a row in 32 bits
  if (partition.rows() > most_rows)
    throw Agreed<RunError>(state_->failure(std::string(factorising) + ": MUMPS takes " +
                                           std::to_string(most_rows) + " rows at most, and there are " +
                                           std::to_string(partition.rows())));
  const std::int64_t entries = triangle_size(a, b);
  state_->own_entries = static_cast<double>(entries);
  state_->all_entries = static_cast<double>(comm.sum(entries));
  state_->require_memory(Triangle::entry_bytes * state_->own_entries +
                         (comm.is_root() ? analysis_bytes * state_->all_entries : 0.0));
  Triangle matrix = state_->triangle(a, b, 0.0);  // whose values do not count
  state_->analyse(matrix);
  state_->check_state(factorising);
}

Factorization::~Factorization() = default;

const FactorSize& Factorization::size() const { return state_->size; }

void Factorization::serve(const Use& use) { state_->use = use; }

void Factorization::require_memory(LocalIndex columns) const {
  // Blocks that come and go leave holes in the heap and in address space.
  constexpr double with_holes = 1.4;
  state_->require_memory(std::max(0.0, state_->size.bytes - state_->held) +
                         with_holes * solve_bytes(state_->comm, state_->partition, columns));
}

Inertia Factorization::factorize(const CsrRows& a, const CsrRows* b, double sigma, int spare) {
  require_memory();
  const FactorSize first = state_->size;
  Triangle matrix = state_->triangle(a, b, sigma);
  try {
    state_->eliminate(*this, matrix, spare);
  } catch (const OnAllRanks&) {
    state_->forget(first);
    throw;
  }
  const Mumps::Pivots pivots = state_->mumps->pivots();
  return {pivots.negative, pivots.zero, pivots.positive};
}

void Factorization::reserve(LocalIndex columns) {
  if (state_->mumps) state_->mumps->reserve(columns);
}

void Factorization::solve(double* block, LocalIndex columns) {
  if (!state_->mumps) throw Agreed<RunError>(RunError("there are no factors of A - sigma B to solve with"));
  state_->mumps->solve(block, columns);
  state_->check_state("solving with the factors of A - sigma B");
}

Inertia inertia(const Communicator& comm, const CsrRows& a, const CsrRows* b, const Partition& partition,
                double sigma, const Use& use) {
  return Factorization(comm, a, b, partition, use).factorize(a, b, sigma);
}

}  // namespace block_eigs::factors
