#include "apps/journey/inner_precision.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "apps/journey/memory_limits.hpp"

namespace block_eigs {

namespace {

/// Blocks of fewer columns are bound by what there is beside columns: indices, calls, sums.
constexpr int fewest_columns = 4;
/// Numbers of all columns at work, from which on caches no longer hold them: 16 MiB in double.
constexpr double fewest_numbers = 2097152.0;
/// Powers of two between which the norm of A is, so that float's range holds what comes of it: as in scaling.cpp.
constexpr int least_exponent = -20;
constexpr int largest_exponent = 40;
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
  return comm.max(std::max(own * comm.node_size() / left.node, own / left.process)) < share_of_memory;
}

/// Collective.
template <class T>
bool pays(const Problem<T>& problem, PreconditionerType type, int columns) {
  if constexpr (std::is_same_v<T, float>) return false;
  if (!problem.context.device->host_addressable() || problem.b || !is_cheap(type)) return false;
  if (columns < fewest_columns) return false;
  if (static_cast<double>(problem.partition.rows()) * columns < fewest_numbers) return false;
  const double norm = problem.a->norm_inf();
  if (!(norm > 0.0) || !std::isfinite(norm)) return false;
  const int exponent = std::ilogb(norm);
  return exponent >= least_exponent && exponent <= largest_exponent && leaves_memory(problem, columns);
}

}  // namespace

template <class T>
void begin_in_float_where_it_pays(const Problem<T>& problem, EigensolverConfig& config) {
  // Of more pairs than columns, and of given vectors, which may be better than float can make them, nothing is to
  // be had.
  if (config.inner_precision_given || config.initial || config.options.block_size < config.options.pairs) return;
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

template void begin_in_float_where_it_pays(const Problem<float>&, EigensolverConfig&);
template void begin_in_float_where_it_pays(const Problem<float>&, GlobalIndex, LinearSolverConfig&);
template void begin_in_float_where_it_pays(const Problem<double>&, EigensolverConfig&);
template void begin_in_float_where_it_pays(const Problem<double>&, GlobalIndex, LinearSolverConfig&);

}  // namespace block_eigs
