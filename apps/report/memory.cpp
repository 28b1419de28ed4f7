#include "apps/report/memory.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include "spmm/matrix/dense_block.hpp"

namespace block_eigs {

namespace {

/// A line "VmHWM:   1234 kB" in bytes.
double status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  std::string word;
  double kibibytes = 0.0;
  while (status >> word) {
    if (word == key && status >> kibibytes) return kibibytes * 1024.0;
  }
  return 0.0;
}

/// Matrices of order 3 b that rank 0 works on, LAPACK's copies among them.
double small_dense_bytes(double order) {
  constexpr double matrices = 8.0;
  return matrices * order * order * sizeof(double);
}

/// Bytes of `columns` vectors of `rows` rows.
template <class T>
double block_bytes(double rows, int columns) {
  return rows * DenseBlock<T>::padded(columns) * sizeof(T);
}

/// Vectors that the preconditioner works with, in blocks of T on the finest level. AMG's coarser levels are a
/// third of it at most.
template <class T>
double preconditioner_blocks(const PreconditionerConfig& config) {
  if (config.type == PreconditionerType::chebyshev) return 1.0;
  if (config.type == PreconditionerType::petsc) return 2.0 * sizeof(double) / sizeof(T);
  if (config.type != PreconditionerType::amg) return 0.0;
  const bool cast = config.amg.precision == Precision::float32 && sizeof(T) > sizeof(float);
  return cast ? 5.0 * 4 / 3 * sizeof(float) / sizeof(T) : 4.0 * 4 / 3;
}

/// Levels and interpolations of AMG, in matrices like A.
double preconditioner_matrices(const PreconditionerConfig& config) {
  return config.type == PreconditionerType::amg ? 2.0 : 0.0;
}

/// Adds up what is in `estimate` and `small` dense matrices. Of the vectors some are `held` already; on a GPU the
/// `result` returns to the host.
template <class T>
void add_up(const Problem<T>& problem, double small, double held, double result, MemoryEstimate& estimate) {
  const bool on_host = problem.context.device->host_addressable();
  // On a GPU messages are staged in host memory.
  estimate.device = on_host ? 0.0 : estimate.vectors + estimate.matrix + estimate.halo;
  const double more = estimate.halo + (on_host ? estimate.vectors - held : result);
  // Thread pools, LAPACK's and MPI's buffers come into being while the solver works.
  constexpr double libraries = 4e6;
  estimate.host = std::max(resident_peak(), resident_now() + more + small + libraries);
}

}  // namespace

double resident_now() { return status_bytes("VmRSS:"); }
double resident_peak() { return status_bytes("VmHWM:"); }

template <class T>
MemoryEstimate estimate_memory(const Problem<T>& problem, const EigensolverConfig& config, int constraints) {
  const LobpcgOptions& options = config.options;
  const bool mass = problem.b != nullptr;
  const bool root = problem.context.comm.is_root();
  const auto rows = static_cast<double>(problem.partition.size(problem.context.comm.rank()));

  MemoryEstimate estimate;
  estimate.matrix =
      (1.0 + preconditioner_matrices(config.preconditioner)) * static_cast<double>(problem.a->bytes()) +
      static_cast<double>(mass ? problem.b->bytes() : 0);
  double small = 0.0;
  if (solves_densely(options, problem.partition.rows(), constraints)) {
    const auto order = static_cast<double>(problem.partition.rows());
    estimate.vectors = block_bytes<T>(rows, options.pairs) + block_bytes<T>(rows, 2 * 64);
    small = root ? small_dense_bytes(order) * (mass ? 1.0 : 0.6) : 0.0;
  } else {
    const int width = options.block_size;
    const double blocks = 8 + (mass ? 3 : 0) + preconditioner_blocks<T>(config.preconditioner);
    const int kept = constraints + options.pairs + width;
    estimate.vectors = blocks * block_bytes<T>(rows, width) + (mass ? 2 : 1) * block_bytes<T>(rows, kept) +
                       block_bytes<T>(rows, options.pairs) + block_bytes<T>(rows, constraints);
    small = root ? small_dense_bytes(3.0 * width) : 0.0;
    if (sizeof(T) > sizeof(float) && config.inner_precision == Precision::float32 && !mass) {
      // What a run in float leaves is there, two blocks, when the one in double begins, but the result is not yet.
      estimate.vectors += 2.0 * block_bytes<T>(rows, width) - block_bytes<T>(rows, options.pairs);
      if (config.preconditioner.type != PreconditionerType::amg)
        estimate.matrix += 2.0 / 3 * static_cast<double>(problem.a->bytes());
    }
    const double ghosts = problem.a->ghosts() + (mass ? problem.b->ghosts() : 0);
    estimate.halo = 2.0 * ghosts * width * sizeof(T);
  }
  add_up(problem, small, 0.0, block_bytes<T>(rows, options.pairs), estimate);
  return estimate;
}

template <class T>
MemoryEstimate estimate_memory(const Problem<T>& problem, const LinearSolverConfig& config, int right_hand_sides) {
  const auto rows = static_cast<double>(problem.partition.size(problem.context.comm.rank()));
  const int width = std::min(config.block_size, right_hand_sides);
  const PreconditionerType type = config.preconditioner.type;
  const double blocks = 3 + (type != PreconditionerType::none ? 1 : 0) +
                        preconditioner_blocks<T>(config.preconditioner) + (config.initial ? 1 : 0) +
                        (width < right_hand_sides ? 1 : 0);
  MemoryEstimate estimate;
  estimate.matrix =
      (1.0 + preconditioner_matrices(config.preconditioner)) * static_cast<double>(problem.a->bytes());
  const double all = block_bytes<T>(rows, right_hand_sides);
  estimate.vectors = blocks * block_bytes<T>(rows, width) + 2.0 * all;
  if (sizeof(T) > sizeof(float) && config.inner_precision == Precision::float32) {
    estimate.matrix += 2.0 / 3 * static_cast<double>(problem.a->bytes());
    estimate.vectors += 2.0 * all + 0.5 * blocks * block_bytes<T>(rows, width);
  }
  estimate.halo = 2.0 * problem.a->ghosts() * width * sizeof(T);
  // The initial guess becomes the solution.
  const double held = config.initial ? 2.0 * all : all;
  add_up(problem, small_dense_bytes(width), held, all, estimate);
  return estimate;
}

template MemoryEstimate estimate_memory(const Problem<float>&, const LinearSolverConfig&, int);
template MemoryEstimate estimate_memory(const Problem<double>&, const LinearSolverConfig&, int);
template MemoryEstimate estimate_memory(const Problem<float>&, const EigensolverConfig&, int);
template MemoryEstimate estimate_memory(const Problem<double>&, const EigensolverConfig&, int);

}  // namespace block_eigs
