#include "apps/journey/memory_limits.hpp"

#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "apps/report/text.hpp"
#include "spmm/device/address_space.hpp"
#include "spmm/device/memory_left.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// What a rank has yet to take.
struct MemoryToCome {
  double host = 0.0;
  double device = 0.0;  ///< 0 on the host backend
  double holes = 0.0;   ///< in host memory, beside that: what the solve may do without
};

/// A solve with that many columns in its block, its vectors in double or not.
struct Plan {
  int columns = 0;
  const char* key = "";  ///< "eigensolver.block_size"
  bool in_double = false;
  std::function<MemoryNeeds(int columns)> needs{};
  double share = 1.0;  ///< of what is left: what a smaller block may take, by the advice
};

/// Before anything is read: the rest is kept for matrices and what is made of them, which are not known yet.
constexpr double share_of_vectors = 0.75;

/// Of the address space that a solve needs: what libraries take meanwhile, and the ends of large pages.
constexpr double uncounted = 0.05;

/// How much more is needed than there is, as the largest ratio over all ranks, of what lacks most.
struct Shortage {
  enum class Of { node, process, device };
  double ratio = 0.0;
  Of of = Of::node;
  double needed = 0.0;
  double left = 0.0;
};

/// Collective.
Shortage shortage(const Communicator& comm, const MemoryToCome& coming, const MemoryLeft& left) {
  // Ranks have about as much to do.
  const double of_node = comm.sum(coming.host) / comm.size() * comm.node_size();
  Shortage own;
  for (Shortage kind : {Shortage{0.0, Shortage::Of::node, of_node, left.node},
                        Shortage{0.0, Shortage::Of::process, (1.0 + uncounted) * coming.host, left.process},
                        Shortage{0.0, Shortage::Of::device, coming.device, left.device}}) {
    kind.ratio = kind.needed > 0.0 ? kind.needed / std::max(kind.left, 1.0) : 0.0;
    if (kind.ratio > own.ratio) own = kind;
  }
  // What is needed is held against what there is on the same rank; what lacks most is told.
  const double ratio = comm.max(own.ratio);
  const auto of_worst = [&](double value) { return comm.max(own.ratio == ratio ? value : -1.0); };
  const auto of = static_cast<Shortage::Of>(static_cast<int>(of_worst(static_cast<double>(own.of))));
  return {ratio, of, of_worst(own.needed), of_worst(own.left)};
}

/// `share` of the vectors: 0.5 where they are in float instead.
MemoryToCome to_come(MemoryNeeds needs, const Device& device, double share = 1.0) {
  needs.vectors *= share;
  needs.held *= share;
  needs.halo *= share;
  const MemoryEstimate estimate = estimate_memory(needs, {}, device.host_addressable());
  return {estimate.host_to_come, estimate.device_to_come, estimate.host_holes};
}

MemoryToCome with_holes(MemoryToCome coming) {
  coming.host += coming.holes;
  return coming;
}

/// The most columns that fit; 0 where none do. Collective.
int fitting_columns(const Communicator& comm, const Device& device, const MemoryLeft& left, const Plan& plan) {
  int fits = 0;
  int too_many = plan.columns;
  while (too_many - fits > 1) {
    const int middle = fits + (too_many - fits) / 2;
    const bool enough = shortage(comm, to_come(plan.needs(middle), device), left).ratio <= plan.share;
    (enough ? fits : too_many) = middle;
  }
  return fits;
}

std::string place(Shortage::Of of) {
  switch (of) {
    case Shortage::Of::node:
      return "for all ranks of a node";
    case Shortage::Of::process:
      return "for a rank" + address_space_remark();
    case Shortage::Of::device:
      return "on its GPU";
  }
  return "";
}

std::string more_ranks(const Communicator& comm, const Shortage& lacking) {
  const auto times = static_cast<std::int64_t>(std::ceil(1.1 * lacking.ratio));
  if (lacking.of == Shortage::Of::node) return fmt::format("{} times as many nodes", times);
  return fmt::format("{} ranks{}", times * comm.size(), lacking.of == Shortage::Of::device ? ", a GPU each" : "");
}

}  // namespace

MemoryLeft memory_left(const Device& device) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  // What was freed is left, too, as memory_in_use has it: all that is asked of memory sees the same.
  malloc_trim(0);
  const std::size_t own = address_space_left();
  MemoryLeft left{shared_memory_left(), infinity, infinity};
  if (own != std::numeric_limits<std::size_t>::max()) left.process = static_cast<double>(own);
  if (!device.host_addressable()) left.device = static_cast<double>(device.memory().free);
  return left;
}

namespace {

/// Collective.
void require(const Communicator& comm, const Device& device, const Plan& plan) {
  const MemoryLeft left = memory_left(device);
  const MemoryNeeds needs = plan.needs(plan.columns);
  const Shortage lacking = shortage(comm, to_come(needs, device), left);
  if (!(lacking.ratio > 1.0)) return;
  std::string fitting;
  const int columns = fitting_columns(comm, device, left, plan);
  if (columns > 0) fitting += fmt::format("{}={}, or ", plan.key, columns);
  fitting += more_ranks(comm, lacking);
  if (plan.in_double && shortage(comm, to_come(needs, device, 0.5), left).ratio <= 1.0)
    fitting += ", or precision=float";
  const double vectors = comm.max(needs.vectors);
  const double matrix = comm.max(needs.matrix);
  throw Agreed<InputError>(of_memory(
      InputError(fmt::format("not enough memory: the solve would take {} {} (vectors of {} a rank, with {} "
                             "columns{}), and {} are left; what "
                             "would fit: {}",
                             bytes_text(lacking.needed), place(lacking.of), bytes_text(vectors), plan.columns,
                             matrix > 0.0 ? fmt::format(", beside matrices of {}", bytes_text(matrix)) : "",
                             bytes_text(lacking.left), fitting))));
}

/// `width` columns are at work; `needs` are those with the work space of `operators` as it is. Collective.
template <class T>
std::string fit(const Problem<T>& problem, Operators<T>& operators, int width,
                const std::function<MemoryNeeds()>& needs) {
  const Communicator& comm = problem.context.comm;
  const MemoryLeft left = memory_left(*problem.context.device);
  const auto fits = [&](const MemoryToCome& coming) { return !(shortage(comm, coming, left).ratio > 1.0); };
  const auto coming_with = [&](LocalIndex columns) {
    operators.limit_work_space(columns);
    return to_come(needs(), *problem.context.device);
  };
  const auto taking = [](LocalIndex columns) {
    return fmt::format("memory is short: the preconditioner takes {} columns at a time", columns);
  };
  constexpr LocalIndex no_limit = LinearOperator<T>::no_limit;
  const MemoryToCome unlimited = coming_with(no_limit);
  // A smaller work space costs less than a solve that ends because holes took what was left.
  if (fits(with_holes(unlimited))) return "";
  // Rows of so many begin where several can be loaded at once.
  constexpr LocalIndex least = DenseBlock<float>::padded(1);
  for (const LocalIndex columns : {width / 2 / least * least, least}) {
    if (columns >= least && columns < width && fits(with_holes(coming_with(columns)))) return taking(columns);
  }
  if (least < width) {
    const MemoryToCome smallest = coming_with(least);
    const double saved = comm.max(unlimited.host + unlimited.device - smallest.host - smallest.device);
    if (saved > 0.0 && fits(smallest)) return taking(least);
  }
  operators.limit_work_space(no_limit);
  return "";
}

/// Of one rank where rows are dealt evenly.
LocalIndex rows_of_a_rank(const Communicator& comm, GlobalIndex rows) {
  return static_cast<LocalIndex>((rows + comm.size() - 1) / comm.size());
}

}  // namespace

template <class T>
void require_memory(const Problem<T>& problem, const Operators<T>& operators, const EigensolverConfig& config,
                    const StartVectors<T>& start, int known) {
  EigensolverConfig other = config;
  const Plan plan{block_width(config.options), "eigensolver.block_size", std::is_same_v<T, double>,
                  [&](int columns) {
                    other.options.block_size = columns;
                    return memory_needs(problem, operators, other, start, known);
                  }};
  require(problem.context.comm, *problem.context.device, plan);
}

template <class T>
void require_memory(const Problem<T>& problem, const Operators<T>& operators, const LinearSolverConfig& config,
                    int right_hand_sides, bool resumes) {
  LinearSolverConfig other = config;
  const Plan plan{std::min(config.block_size, right_hand_sides), "linear_solver.block_size",
                  std::is_same_v<T, double>, [&](int columns) {
                    other.block_size = columns;
                    return memory_needs(problem, operators, other, right_hand_sides, resumes);
                  }};
  require(problem.context.comm, *problem.context.device, plan);
}

template <class T>
std::string fit_work_space(const Problem<T>& problem, Operators<T>& operators, const EigensolverConfig& config,
                           const StartVectors<T>& start, int known) {
  return fit<T>(problem, operators, block_width(config.options),
                [&] { return memory_needs(problem, operators, config, start, known); });
}

template <class T>
std::string fit_work_space(const Problem<T>& problem, Operators<T>& operators, const LinearSolverConfig& config,
                           int right_hand_sides, bool resumes) {
  return fit<T>(problem, operators, std::min(config.block_size, right_hand_sides),
                [&] { return memory_needs(problem, operators, config, right_hand_sides, resumes); });
}

template <class T>
void require_memory(const Context<T>& context, const EigensolverConfig& config, GlobalIndex rows) {
  const LobpcgOptions& options = config.options;
  if (solves_densely(options, rows, 0)) return;
  const Plan plan{block_width(options), "eigensolver.block_size", std::is_same_v<T, double>,
                  [&](int columns) {
                    MemoryNeeds needs;
                    const double column = sizeof(T) * static_cast<double>(rows_of_a_rank(context.comm, rows));
                    needs.vectors = (7.0 * columns + 2.0 * options.pairs) * column;
                    return needs;
                  },
                  share_of_vectors};
  require(context.comm, *context.device, plan);
}

template <class T>
void require_memory(const Context<T>& context, const LinearSolverConfig& config, GlobalIndex rows,
                    GlobalIndex right_hand_sides) {
  const auto sides = static_cast<int>(right_hand_sides);
  const Plan plan{std::min(config.block_size, sides), "linear_solver.block_size", std::is_same_v<T, double>,
                  [&](int columns) {
                    MemoryNeeds needs;
                    const double column = sizeof(T) * static_cast<double>(rows_of_a_rank(context.comm, rows));
                    needs.vectors = (3.0 * columns + 2.0 * sides) * column;
                    return needs;
                  },
                  share_of_vectors};
  require(context.comm, *context.device, plan);
}

template void require_memory(const Problem<float>&, const Operators<float>&, const EigensolverConfig&,
                             const StartVectors<float>&, int);
template std::string fit_work_space(const Problem<float>&, Operators<float>&, const EigensolverConfig&,
                                    const StartVectors<float>&, int);
template std::string fit_work_space(const Problem<float>&, Operators<float>&, const LinearSolverConfig&, int,
                                    bool);
template std::string fit_work_space(const Problem<double>&, Operators<double>&, const EigensolverConfig&,
                                    const StartVectors<double>&, int);
template std::string fit_work_space(const Problem<double>&, Operators<double>&, const LinearSolverConfig&, int,
                                    bool);
template void require_memory(const Problem<float>&, const Operators<float>&, const LinearSolverConfig&, int, bool);
template void require_memory(const Context<float>&, const EigensolverConfig&, GlobalIndex);
template void require_memory(const Context<float>&, const LinearSolverConfig&, GlobalIndex, GlobalIndex);
template void require_memory(const Problem<double>&, const Operators<double>&, const EigensolverConfig&,
                             const StartVectors<double>&, int);
template void require_memory(const Problem<double>&, const Operators<double>&, const LinearSolverConfig&, int,
                             bool);
template void require_memory(const Context<double>&, const EigensolverConfig&, GlobalIndex);
template void require_memory(const Context<double>&, const LinearSolverConfig&, GlobalIndex, GlobalIndex);

}  // namespace block_eigs
