#include "apps/report/memory.hpp"

#include <malloc.h>

#include <algorithm>

#include "apps/input/lanczos_options.hpp"
#include "solver/block_cg/deferred_solution.hpp"
#include "solver/davidson/davidson_plan.hpp"
#include "solver/factors/factorization.hpp"
#include "solver/lobpcg/lobpcg_state.hpp"
#include "solver/proof/pencil_probe.hpp"
#include "solver/proof/probe_memory.hpp"
#include "spmm/device/process_memory.hpp"
#include "spmm/matrix/dense_block.hpp"

namespace block_eigs {

namespace {

/// Matrices of that order that rank 0 works on, LAPACK's copies among them.
double small_dense_bytes(double order) {
  constexpr double matrices = 8.0;
  return matrices * order * order * sizeof(double);
}

}  // namespace

double dense_solver_bytes(double order, bool with_mass) {
  constexpr double without_mass = 0.75;
  return small_dense_bytes(order) * (with_mass ? 1.0 : without_mass);
}

namespace {

template <class T>
double matrix_bytes(const Problem<T>& problem, const Operators<T>& operators) {
  const std::shared_ptr<const CsrPattern>& pattern = problem.a->own_columns().pattern();
  // Levels that are made where A is share the places of its entries: theirs are counted with the operators.
  const std::size_t shared = pattern.use_count() > 1 ? pattern->bytes() : 0;
  return static_cast<double>(problem.a->bytes() + (problem.b ? problem.b->bytes() : 0) + operators.bytes() -
                             shared);
}

template <class T>
double halo_bytes(const Problem<T>& problem, int cols) {
  return static_cast<double>(problem.a->work_bytes(cols) + (problem.b ? problem.b->work_bytes(cols) : 0));
}

/// Host memory of preconditioners that work there in double, with blocks in layouts of their own.
template <class T>
double others_bytes(const PreconditionerConfig& config, const Problem<T>& problem, int cols) {
  const Communicator& comm = problem.context.comm;
  if (config.type == PreconditionerType::direct) return factors::solve_bytes(comm, problem.partition, cols);
  return config.type == PreconditionerType::petsc
             ? 2.0 * sizeof(double) * problem.partition.size(comm.rank()) * cols
             : 0.0;
}

/// In host memory, while rows come from a checkpoint or go there: a piece in three forms, or all columns of a set
/// in two where they change their order.
template <class T>
double passing_rows_bytes(const Problem<T>& problem, LocalIndex rows, int cols) {
  constexpr double piece = 16e6;
  const double all = sizeof(double) * static_cast<double>(rows) * cols;
  return problem.order ? 2.0 * all : 3.0 * std::min(all, piece);
}

/// Of directions that wait until the solution has them.
template <class P, class T>
double deferred_bytes(const Problem<T>& problem, const LinearOperator<P>* preconditioner, int cols) {
  using Deferred = bcgrq::DeferredSolution<P>;
  const LocalIndex rows = problem.partition.size(problem.context.comm.rank());
  if (!Deferred::pays(*problem.context.device, preconditioner, rows, cols)) return 0.0;
  return Deferred::depth * static_cast<double>(DenseBlock<P>::bytes(rows, cols));
}

struct ProbeNeeds {
  double blocks = 0.0;  ///< bytes
  int widest = 0;       ///< columns that operators are applied to, now or before
};

/// With its filter in double or, where there are operators for that, in float: which will be is not known before.
template <class T>
ProbeNeeds probe_needs(const Problem<T>& problem, const Operators<T>& operators, const StartVectors<T>& given,
                       const LobpcgOptions& options) {
  ProbeShape shape{problem.partition.size(problem.context.comm.rank()),
                   options.pairs,
                   given.constraints.cols(),
                   problem.b != nullptr,
                   operators.preconditioner.operation != nullptr,
                   false};
  ProbeNeeds needs{static_cast<double>(probe_bytes<T>(shape)),
                   std::max<int>(options.block_size, widest_of_probe<T>(false))};
  const bool float_too = operators.in_float.a != nullptr || operators.preconditioner.in_float.a != nullptr;
  if (!float_too || problem.b != nullptr) return needs;
  shape.in_float = true;
  needs.blocks = std::max(needs.blocks, static_cast<double>(probe_bytes<T>(shape)));
  needs.widest = std::max<int>(needs.widest, widest_of_probe<T>(true));
  return needs;
}

/// Of LOBPCG's blocks, those of what is deflated among them.
template <class T>
double state_bytes(const Problem<T>& problem, const LobpcgOptions& options, bool with_mass, int constraints) {
  const LocalIndex rows = problem.partition.size(problem.context.comm.rank());
  const auto block = [&](int cols) { return static_cast<double>(DenseBlock<T>::bytes(rows, cols)); };
  const int width = options.block_size;
  const int blocks = with_mass ? 11 : carries_images_of<T>(*problem.a, with_mass, width) ? 8 : 6;
  return blocks * block(width) + (with_mass ? 2 : 1) * block(deflated_at_most(options, width, constraints));
}

/// Of the vectors of Lanczos iterations with factors, and of the judgement of what they find.
template <class T>
double lanczos_needs(const Problem<T>& problem, const Operators<T>& operators, const LobpcgOptions& options,
                     int constraints) {
  const LocalIndex rows = problem.partition.size(problem.context.comm.rank());
  const bool mass = problem.b != nullptr;
  const LanczosOptions lanczos = lanczos_options(options);
  const double iterating = static_cast<double>(lanczos_bytes<T>(rows, lanczos, mass, constraints));
  const double judging = static_cast<double>(DenseBlock<T>::bytes(rows, lanczos.columns)) +
                         (mass ? 2.0 : 1.0) * static_cast<double>(DenseBlock<T>::bytes(rows, options.pairs));
  return std::max(iterating, judging) + static_cast<double>(operators.work_bytes(options.block_size));
}

/// Of a probe in another pencil beside the pairs found, with the work space of operators: LOBPCG with the diagonal
/// for B; 0 where none is made. Collective.
template <class T>
double pencil_probe_bytes(const Problem<T>& problem, const Operators<T>& operators, const LobpcgOptions& options,
                          int constraints) {
  if (options.which != Which::smallest || options.pairs == 0) return 0.0;
  const bool soft = problem.b != nullptr && problem.mass_spread.soft();
  if (!soft && !hides_stiff_rows(*problem.a)) return 0.0;
  const LocalIndex rows = problem.partition.size(problem.context.comm.rank());
  const auto block = [&](int cols) { return static_cast<double>(DenseBlock<T>::bytes(rows, cols)); };
  const int pairs = std::min(options.pairs + (soft ? constraints + 2 : 0), most_of_pencil);
  LobpcgOptions probe = options;
  probe.pairs = pairs;
  probe.block_size = default_block_size(pairs);
  const int deflated = constraints + options.pairs;
  const double looking = state_bytes(problem, probe, true, deflated) + block(deflated) + block(pairs) +
                         (soft ? block(probe.block_size) : 0.0) + (2.0 * sizeof(T) + sizeof(double)) * rows +
                         static_cast<double>(operators.work_bytes(probe.block_size));
  // The solve goes on with what was found, which becomes the memory of the block where it is as wide.
  LobpcgOptions all = options;
  all.block_size = std::max(options.block_size, options.pairs + pairs);
  const int passing = std::max(options.pairs, std::min(options.block_size, options.pairs + pairs));
  const double solving = state_bytes(problem, all, problem.b != nullptr, constraints) + block(passing) +
                         block(pairs) + static_cast<double>(operators.work_bytes(all.block_size));
  return std::max(looking, solving);
}

}  // namespace

template <class T>
MemoryNeeds memory_needs(const Problem<T>& problem, const Operators<T>& operators, const EigensolverConfig& config,
                         const StartVectors<T>& given, int known) {
  const LobpcgOptions& options = config.options;
  const bool mass = problem.b != nullptr;
  const bool root = problem.context.comm.is_root();
  const LocalIndex rows = problem.partition.size(problem.context.comm.rank());
  const auto block = [&](int cols) { return static_cast<double>(DenseBlock<T>::bytes(rows, cols)); };
  MemoryNeeds needs;
  needs.matrix = matrix_bytes(problem, operators);
  needs.held = block(given.constraints.cols()) + block(given.initial.cols());
  needs.result = block(options.pairs);
  // What is known joins what was found.
  const double joined = known > 0 ? needs.held + needs.result + block(options.pairs + known) + block(1) : 0.0;
  // Rows that stand alone have all that is asked for: nothing is iterated.
  if (options.pairs == 0) {
    needs.vectors = std::max(needs.held, joined);
    return needs;
  }
  // Rows that stand alone are left out.
  const GlobalIndex order =
      problem.partition.rows() - problem.context.comm.sum(static_cast<std::int64_t>(problem.lone.rows.size()));
  if (solves_densely(options, order, given.constraints.cols())) {
    constexpr int panel = 64;
    needs.vectors = needs.held + block(options.pairs) + 2.0 * block(panel);
    needs.host = root ? dense_solver_bytes(static_cast<double>(order), mass) : 0.0;
    return needs;
  }
  const int width = options.block_size;
  const int start = starts_from_coarse_levels(operators.preconditioner, config)
                        ? start_columns(options.pairs, width)
                        : given.initial.cols();
  // Start vectors as wide as the block become its memory, and so does what float came to, the result is not there
  // yet.
  const double passing = block(std::max({start == width ? 0 : start, options.pairs, given.resumes ? width : 0}));
  needs.vectors = state_bytes(problem, options, mass, given.constraints.cols()) + block(given.constraints.cols()) +
                  passing + static_cast<double>(operators.work_bytes(width));
  needs.work = static_cast<double>(operators.work_bytes(width));
  needs.vectors = std::max(needs.vectors, joined);
  const bool may_build_basis = options.filter_basis || options.expects_outliers;
  if (options.filtered_start && may_build_basis && !mass && width >= options.pairs) {
    const DavidsonShape shape = davidson_shape(width, problem.partition.rows());
    needs.optional = block(shape.capacity);
    constexpr double panels_of_residual_filter = 3.0;
    if (operators.in_float.a != nullptr)
      needs.optional +=
          panels_of_residual_filter * static_cast<double>(DenseBlock<float>::bytes(rows, shape.block));
  }
  int widest = width;
  if (config.verify == Verify::probe || config.verify == Verify::automatic) {
    const ProbeNeeds probe = probe_needs(problem, operators, given, options);
    needs.vectors = std::max(needs.vectors, needs.held + needs.result + probe.blocks +
                                                static_cast<double>(operators.work_bytes(probe.widest)));
    needs.with_other_pencil =
        needs.held + needs.result + pencil_probe_bytes(problem, operators, options, given.constraints.cols());
    widest = std::max(width, probe.widest);
  }
  double small = root ? small_dense_bytes(3.0 * width) : 0.0;
  if (config.preconditioner.type == PreconditionerType::direct && starts_by_lanczos(options, order)) {
    const double more = lanczos_needs(problem, operators, options, given.constraints.cols()) - needs.vectors;
    needs.optional += std::max(more, 0.0);
    small = std::max(small, static_cast<double>(lanczos_small_bytes(lanczos_options(options))));
  }
  needs.halo = halo_bytes(problem, widest);
  needs.host = small + others_bytes(config.preconditioner, problem, width);
  if (given.resumes) needs.host += passing_rows_bytes(problem, rows, std::max(width, options.pairs));
  return needs;
}

template <class T>
MemoryNeeds memory_needs(const Problem<T>& problem, const Operators<T>& operators,
                         const LinearSolverConfig& config, int right_hand_sides, bool resumes) {
  const LocalIndex rows = problem.partition.size(problem.context.comm.rank());
  const auto block = [&](int cols) { return static_cast<double>(DenseBlock<T>::bytes(rows, cols)); };
  const int width = std::min(config.block_size, right_hand_sides);
  const double all = block(right_hand_sides);
  // The best iterates are kept where an initial guess, or what float has come to, might be lost.
  const bool keeps_best = config.initial || operators.in_float.a != nullptr;
  const double blocks = 3.0 + (operators.preconditioner.operation ? 1.0 : 0.0) + (keeps_best ? 1.0 : 0.0) +
                        (width < right_hand_sides ? 1.0 : 0.0) + (resumes ? 1.0 : 0.0);
  MemoryNeeds needs;
  needs.matrix = matrix_bytes(problem, operators);
  needs.vectors = blocks * block(width) + 2.0 * all + static_cast<double>(operators.work_bytes(width));
  // In float the same blocks once more, with the right-hand sides and corrections of a round and its best
  // iterates.
  if (operators.in_float.a != nullptr)
    needs.vectors += 0.5 * (6.0 + (operators.in_float.preconditioner != nullptr ? 1.0 : 0.0)) * block(width);
  needs.optional = deferred_bytes<T>(problem, operators.preconditioner.operation.get(), width);
  if (operators.in_float.a != nullptr)
    needs.optional += deferred_bytes<float>(problem, operators.in_float.preconditioner, width);
  // Written from a copy in one piece.
  needs.vectors = std::max(needs.vectors, 3.0 * all);
  // The initial guess becomes the solution.
  needs.held = config.initial ? 2.0 * all : all;
  needs.halo = halo_bytes(problem, width);
  needs.host = small_dense_bytes(width) + others_bytes(config.preconditioner, problem, width);
  if (resumes) needs.host += passing_rows_bytes(problem, rows, right_hand_sides);
  needs.result = all;
  return needs;
}

MemoryInUse memory_in_use(const Device& device) {
  // What was freed while the matrix was read is there for the solve, and is no part of what it adds to.
  malloc_trim(0);
  MemoryInUse now{resident_bytes(), most_resident_bytes(), 0.0};
  if (device.host_addressable()) return now;
  const MemoryInfo info = device.memory();
  now.device = static_cast<double>(info.total - info.free);
  if (info.least_free > 0) now.device_peak = static_cast<double>(info.total - info.least_free);
  return now;
}

MemoryEstimate estimate_memory(const MemoryNeeds& needs, const MemoryInUse& now, bool on_host) {
  const double more = needs.vectors - needs.held;
  // Thread pools, LAPACK's and MPI's buffers come into being while the solver works.
  constexpr double libraries = 4e6;
  // Blocks that come and go leave holes in the heap.
  constexpr double holes = 0.1;
  MemoryEstimate estimate;
  estimate.needs = needs;
  estimate.device_to_come = on_host ? 0.0 : more + needs.halo;
  estimate.device =
      on_host ? 0.0 : std::max(now.device_peak, now.device + estimate.device_to_come + needs.optional);
  estimate.host_to_come = (on_host ? more : needs.result) + needs.halo + needs.host + libraries;
  estimate.host_holes = on_host ? holes * more : 0.0;
  estimate.host = std::max(
      now.host_peak, now.host + estimate.host_to_come + estimate.host_holes + (on_host ? needs.optional : 0.0));
  if (needs.certificate > 0.0) {
    const double kept = needs.result + (on_host ? needs.work : 0.0);
    estimate.host = std::max(estimate.host, now.host + kept + needs.certificate + libraries);
  }
  return estimate;
}

MemoryEstimate estimate_memory(const MemoryNeeds& needs, const Device& device) {
  return estimate_memory(needs, memory_in_use(device), device.host_addressable());
}

void MemoryWatch::sample() {
  constexpr double share = 0.02;
  if (device_->host_addressable() || watch_.seconds() < next_) return;
  const double began = watch_.seconds();
  const MemoryInfo info = device_->memory();
  device_peak_ = std::max(device_peak_, static_cast<double>(info.total - info.free));
  const double ended = watch_.seconds();
  next_ = ended + (ended - began) / share;
}

MemoryRecord MemoryWatch::record(const Communicator& comm) const {
  const MemoryInUse now = memory_in_use(*device_);
  return {comm.max(now.host_peak), comm.max(predicted_.host), comm.max(std::max(device_peak_, now.device_peak)),
          comm.max(predicted_.device)};
}

template MemoryNeeds memory_needs(const Problem<float>&, const Operators<float>&, const LinearSolverConfig&, int,
                                  bool);
template MemoryNeeds memory_needs(const Problem<double>&, const Operators<double>&, const LinearSolverConfig&, int,
                                  bool);
template MemoryNeeds memory_needs(const Problem<float>&, const Operators<float>&, const EigensolverConfig&,
                                  const StartVectors<float>&, int);
template MemoryNeeds memory_needs(const Problem<double>&, const Operators<double>&, const EigensolverConfig&,
                                  const StartVectors<double>&, int);

}  // namespace block_eigs
