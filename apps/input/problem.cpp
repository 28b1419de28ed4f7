#include "apps/input/problem.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "io/source/check_matrix.hpp"
#include "io/source/stored_zeros.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// The busiest rank may have this many times the mean before rows are dealt anew.
constexpr double tolerable_imbalance = 1.2;

std::vector<Offset> row_weights(const CsrRows& rows) {
  std::vector<Offset> weights(static_cast<std::size_t>(rows.rows()));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = rows.row_offsets[i + 1] - rows.row_offsets[i] + work_of_a_row;
  }
  return weights;
}

/// `partition` with its borders moved down to where nodes of `unknowns` rows begin; itself where rows are no
/// multiple of that.
Partition by_nodes(const Partition& partition, int unknowns) {
  if (partition.rows() % unknowns != 0) return partition;
  std::vector<GlobalIndex> offsets = partition.offsets();
  for (GlobalIndex& offset : offsets) offset -= offset % unknowns;
  return Partition(std::move(offsets));
}

/// The partition of the sources, the one asked for, or an even one. Throws InputError where that would cut a node.
Partition first_partition(const Communicator& comm, const Sources& sources, const ReadOptions& options) {
  if (sources.order) return sources.order->partition();
  const GlobalIndex rows = sources.a->rows();
  if (!options.partition) return by_nodes(Partition::uniform(rows, comm.size()), options.unknowns_per_node);
  require(by_nodes(*options.partition, options.unknowns_per_node) == *options.partition,
          fmt::format("the rows of a node, {} each, must be on one rank", options.unknowns_per_node));
  return *options.partition;
}

/// The rows of `source` for `partition`, which is replaced by a better one where that is worth a second reading.
CsrRows read_balanced(const Communicator& comm, MatrixSource& source, int unknowns_per_node,
                      Partition& partition) {
  CsrRows rows = source.read(partition);
  if (comm.size() == 1) return rows;
  const Partition better = balanced(comm, partition, row_weights(rows));
  if (better == partition) return rows;
  const Partition whole_nodes = by_nodes(better, unknowns_per_node);
  if (whole_nodes == partition) return rows;
  rows = {};
  partition = whole_nodes;
  return source.read(partition);
}

GlobalIndex longest(const Communicator& comm, const CsrRows& rows) {
  GlobalIndex most = 0;
#pragma omp parallel for schedule(static) reduction(max : most)
  for (std::size_t i = 1; i < rows.row_offsets.size(); ++i) {
    most = std::max<GlobalIndex>(most, rows.row_offsets[i] - rows.row_offsets[i - 1]);
  }
  return comm.max(most);
}

/// Entries of the caller's that can be multiplied with where they are: of the rows as they were read.
template <class T>
DeviceEntries resident_entries(const Context<T>& context, const MatrixSource& source, int exponent) {
  const DeviceEntries entries = source.resident();
  const bool fits = context.comm.size() == 1 && exponent == 0 && entries.wide == std::is_same_v<T, double> &&
                    context.device->can_borrow(entries.column_indices) &&
                    context.device->can_borrow(entries.values);
  return fits ? entries : DeviceEntries{};
}

template <class T>
std::unique_ptr<DistributedMatrix<T>> build(Problem<T>& problem, CsrRows rows, const SpmmOptions& options,
                                            const DeviceEntries& resident = {}) {
  const auto began = std::chrono::steady_clock::now();
  problem.longest_row = std::max(problem.longest_row, longest(problem.context.comm, rows));
  auto matrix = std::make_unique<DistributedMatrix<T>>(problem.context, std::move(rows), problem.partition,
                                                       problem.partition, options, resident);
  problem.build_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return matrix;
}

/// A source whose rows of one partition have been read already; they are handed out once.
class ReadAhead final : public MatrixSource {
 public:
  ReadAhead(std::unique_ptr<MatrixSource> source, const Partition& partition)
      : source_(std::move(source)), partition_(partition), rows_(source_->read(partition)) {}

  GlobalIndex rows() const override { return source_->rows(); }
  GlobalIndex columns() const override { return source_->columns(); }
  std::string description() const override { return source_->description(); }
  CsrRows read(const Partition& partition) override {
    std::optional<CsrRows> rows = std::exchange(rows_, std::nullopt);
    if (rows && partition == partition_) return std::move(*rows);
    rows.reset();
    return source_->read(partition);
  }
  DeviceEntries resident() const override { return source_->resident(); }

 private:
  std::unique_ptr<MatrixSource> source_;
  Partition partition_;
  std::optional<CsrRows> rows_;
};

/// Those of A that are to stand alone. B is read for that where there are any. Collective.
template <class T>
HeldRows held_rows(const Communicator& comm, const Sources& sources, const Partition& partition,
                   const ReadOptions& options, const CsrRows& a) {
  // Beyond, what eigenvectors have in these rows is no number of single precision.
  constexpr double largest_in_float = 1e30;
  if (options.hold == 0) return {};
  HeldRows held = find_held_rows(comm, a);
  if (!held.any()) return held;
  const bool too_large = std::is_same_v<T, float> &&
                         std::any_of(held.penalties.begin(), held.penalties.end(),
                                     [&](double penalty) { return penalty > largest_in_float * held.stand_in; });
  if (comm.any(too_large)) return {};
  if (!sources.b) return held;
  // With a mass they are coupled to each other, so that their own eigenvectors are not known.
  if (options.hold > partition.rows() - static_cast<GlobalIndex>(held.all.size())) return {};
  return held_with_mass(comm, std::move(held), sources.b->read(partition));
}

void check_rows(const Communicator& comm, const Partition& partition, const CsrRows& rows,
                const std::string& description, bool mass, Precision precision) {
  check_finite(comm, rows, description);
  check_symmetric(comm, partition, rows, description,
                  precision == Precision::float32 ? symmetry_tolerance_in_float : symmetry_tolerance);
  if (mass) check_mass_entries(comm, partition, rows, description);
}

}  // namespace

Partition balanced(const Communicator& comm, const Partition& current, const std::vector<Offset>& weights) {
  const auto own = static_cast<double>(std::accumulate(weights.begin(), weights.end(), Offset{0}));
  const double mean = comm.sum(own) / comm.size();
  if (comm.max(own) <= tolerable_imbalance * mean) return current;
  return Partition::by_nonzeros(comm, current, weights);
}

CsrRows read_checked(const Communicator& comm, MatrixSource& source, const Partition& partition, bool mass,
                     Precision precision) {
  CsrRows rows = source.read(partition);
  check_rows(comm, partition, rows, source.description(), mass, precision);
  return rows;
}

Sources open_sources(const Communicator& comm, const RunConfig& config) {
  Sources sources;
  sources.a = std::make_unique<WithoutStoredZeros>(comm, open_matrix(comm, config.matrix));
  check_square(comm, *sources.a);
  if (!config.mass) return sources;
  sources.b = std::make_unique<WithoutStoredZeros>(comm, open_matrix(comm, *config.mass));
  check_square(comm, *sources.b);
  require(sources.a->rows() == sources.b->rows(),
          fmt::format("matrix and mass must have the same size: {} has {} rows, {} has {}",
                      sources.a->description(), sources.a->rows(), sources.b->description(), sources.b->rows()));
  return sources;
}

void read_ahead(const Communicator& comm, Sources& sources, int unknowns_per_node) {
  const Partition partition = first_partition(comm, sources, {.unknowns_per_node = unknowns_per_node});
  sources.a = std::make_unique<ReadAhead>(std::move(sources.a), partition);
}

template <class T>
Problem<T> read_problem(const Context<T>& context, const Sources& sources, const ReadOptions& options) {
  const Profile::Scope scope(*context.profile, Phase::io);
  const Communicator& comm = context.comm;
  const bool in_float = options.in_float || std::is_same_v<T, float>;
  constexpr Precision precision = std::is_same_v<T, float> ? Precision::float32 : Precision::float64;
  Problem<T> problem{context, first_partition(comm, sources, options)};
  problem.order = sources.order;
  const bool dealt = options.partition || sources.order;
  CsrRows rows = dealt ? sources.a->read(problem.partition)
                       : read_balanced(comm, *sources.a, options.unknowns_per_node, problem.partition);
  if (!sources.order) check_rows(comm, problem.partition, rows, sources.a->description(), false, precision);
  problem.held = held_rows<T>(comm, sources, problem.partition, options, rows);
  problem.couplings_of_a = comm.sum(take_out_couplings(problem.held, rows));
  replace_penalties(problem.held, rows);
  problem.scaling.a = scale_rows(comm, rows, in_float, false);
  scale_penalties(problem.scaling.a, 0, problem.held);
  problem.lone = find_lone_rows(rows);
  if (comm.any(!problem.lone.rows.empty())) bound_others(rows, problem.lone);
  if (options.keep_rows) problem.a_rows = copy_of(rows);
  const auto resident = [&](const MatrixSource& source, int exponent) {
    return problem.held.any() ? DeviceEntries{} : resident_entries(context, source, exponent);
  };
  problem.a = build(problem, std::move(rows), options.spmm, resident(*sources.a, problem.scaling.a));
  if (!sources.b) return problem;
  rows = sources.b->read(problem.partition);
  if (!sources.order) check_rows(comm, problem.partition, rows, sources.b->description(), true, precision);
  problem.scaling.b = scale_rows(comm, rows, std::is_same_v<T, float>, true);
  require_range(problem.scaling, std::is_same_v<T, float>);
  scale_penalties(0, problem.scaling.b, problem.held);
  problem.couplings_of_b = comm.sum(take_out_couplings(problem.held, rows));
  take_mass(rows, problem.lone);
  if (options.keep_mass_rows) problem.b_rows = copy_of(rows);
  const CsrRows few = rows.global_rows <= most_rows_of_small_mass ? rows : CsrRows{};
  problem.b = build(problem, std::move(rows), options.spmm, resident(*sources.b, problem.scaling.b));
  problem.mass_spread = check_mass_spectrum(context, *problem.b, sources.b->description());
  check_small_mass(comm, few, sources.b->description());
  return problem;
}

template <class T>
Problem<T> read_problem(const Context<T>& context, const Sources& sources, const SpmmOptions& options,
                        const Partition& partition, const Scaling& scaling) {
  const Profile::Scope scope(*context.profile, Phase::io);
  Problem<T> problem{context, partition};
  problem.scaling = scaling;
  problem.order = sources.order;
  CsrRows rows = sources.a->read(partition);
  scale_rows(rows, scaling.a);
  problem.a = build(problem, std::move(rows), options);
  if (!sources.b) return problem;
  rows = sources.b->read(partition);
  scale_rows(rows, scaling.b);
  problem.b = build(problem, std::move(rows), options);
  return problem;
}

template Problem<float> read_problem(const Context<float>&, const Sources&, const ReadOptions&);
template Problem<double> read_problem(const Context<double>&, const Sources&, const ReadOptions&);
template Problem<float> read_problem(const Context<float>&, const Sources&, const SpmmOptions&, const Partition&,
                                     const Scaling&);
template Problem<double> read_problem(const Context<double>&, const Sources&, const SpmmOptions&, const Partition&,
                                      const Scaling&);

}  // namespace block_eigs
