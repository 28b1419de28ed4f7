#include "apps/journey/inner_precision.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "apps/journey/memory_limits.hpp"
#include "solver/lobpcg/lobpcg_checkpoint.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// Blocks of fewer columns are bound by what there is beside columns: indices, calls, sums. Four are a vector of
/// doubles, but half of one of floats: conjugate gradients took 1.2 to 1.35 times as long in float, and 0.8 with
/// five; on GPUs 0.75 with four.
constexpr int fewest_columns = 5;
constexpr int fewest_columns_on_gpus = 4;
/// Numbers of all columns at work, from which on caches no longer hold them: 16 MiB in double. On a GPU, whose
/// caches are larger and whose launches have to be hidden, four times as many.
constexpr double fewest_numbers = 2097152.0;
constexpr double fewest_numbers_on_gpus = 4.0 * fewest_numbers;
/// Powers of two between which the norm of A is, so that float's range holds what comes of it: as in scaling.cpp.
constexpr int least_exponent = -20;
constexpr int largest_exponent = 40;
/// Between the entries of the diagonal: where rows differ by more, entries of vectors fall below float's range,
/// where processors take ten times as long for each.
constexpr double largest_ratio = 1099511627776.0;
/// Of what is left of memory, what the copy in float may take.
constexpr double share_of_memory = 0.3;
/// Blocks that float works with, at most.
constexpr double blocks = 10.0;

bool is_cheap(PreconditionerType type) {
  return type == PreconditionerType::none || type == PreconditionerType::jacobi ||
         type == PreconditionerType::chebyshev;
}

/// Collective.
template <class T>
bool leaves_memory(const Problem<T>& problem, int columns) {
  const Communicator& comm = problem.context.comm;
  const double matrix = (sizeof(float) + sizeof(LocalIndex)) * static_cast<double>(problem.a->nonzeros());
  const double block = sizeof(float) * problem.partition.size(comm.rank()) * static_cast<double>(columns);
  const double own = matrix + blocks * block;
  const MemoryLeft left = memory_left(*problem.context.device);
  const double of_host = std::max(own * comm.node_size() / left.node, own / left.process);
  return comm.max(problem.context.device->host_addressable() ? of_host : own / left.device) < share_of_memory;
}

/// Collective.
template <class T>
bool rows_are_alike(const Problem<T>& problem) {
  const Communicator& comm = problem.context.comm;
  double smallest = HUGE_VAL;
  double largest = 0.0;
  // A GPU is asked for it where nobody was before.
  comm.collectively([&] {
    for (const double entry : problem.a->diagonal()) {
      if (entry == 0.0) continue;
      smallest = std::min(smallest, std::abs(entry));
      largest = std::max(largest, std::abs(entry));
    }
  });
  return comm.max(largest) <= largest_ratio * -comm.max(-smallest);
}

/// Collective.
template <class T>
bool pays(const Problem<T>& problem, PreconditionerType type, int columns) {
  if constexpr (std::is_same_v<T, float>) return false;
  const Communicator& comm = problem.context.comm;
  const bool on_host = comm.any(problem.context.device->host_addressable());
  if (problem.b || !is_cheap(type) || columns < (on_host ? fewest_columns : fewest_columns_on_gpus)) return false;
  const double numbers = static_cast<double>(problem.partition.rows()) * columns;
  if (numbers < (on_host ? fewest_numbers : fewest_numbers_on_gpus)) return false;
  const double norm = problem.a->norm_inf();
  if (!(norm > 0.0) || !std::isfinite(norm)) return false;
  const int exponent = std::ilogb(norm);
  return exponent >= least_exponent && exponent <= largest_exponent && rows_are_alike(problem) &&
         leaves_memory(problem, columns);
}

}  // namespace

template <class T>
void begin_in_float_where_it_pays(const Problem<T>& problem, EigensolverConfig& config,
                                  const Checkpoint* checkpoint) {
  if (holds_state_in_float(checkpoint)) {
    if (config.inner_precision_given && config.inner_precision == Precision::float64)
      throw Agreed<InputError>(InputError(
          "checkpoint: holds vectors in float, which 'inner_precision: double' cannot go on with; leave "
          "inner_precision out, or take another checkpoint.file"));
    config.inner_precision = Precision::float32;
    return;
  }
  // Of more pairs than columns, and of given vectors, which may be better than float can make them, nothing is to
  // be had.
  if (config.inner_precision_given || config.initial || config.options.block_size <= config.options.pairs) return;
  if (pays(problem, config.preconditioner.type, config.options.block_size))
    config.inner_precision = Precision::float32;
}

template <class T>
void begin_in_float_where_it_pays(const Problem<T>& problem, GlobalIndex right_hand_sides,
                                  LinearSolverConfig& config) {
  if (config.inner_precision_given || config.initial) return;
  const auto columns = static_cast<int>(std::min<GlobalIndex>(config.block_size, right_hand_sides));
  if (pays(problem, config.preconditioner.type, columns)) config.inner_precision = Precision::float32;
}

template void begin_in_float_where_it_pays(const Problem<float>&, EigensolverConfig&, const Checkpoint*);
template void begin_in_float_where_it_pays(const Problem<float>&, GlobalIndex, LinearSolverConfig&);
template void begin_in_float_where_it_pays(const Problem<double>&, EigensolverConfig&, const Checkpoint*);
template void begin_in_float_where_it_pays(const Problem<double>&, GlobalIndex, LinearSolverConfig&);

}  // namespace block_eigs
