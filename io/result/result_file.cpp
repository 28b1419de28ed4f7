#include "io/result/result_file.hpp"

#include <span>

#include "io/hdf5/column_checksums.hpp"

namespace block_eigs {

namespace {

std::int64_t length(const auto& list) { return static_cast<std::int64_t>(list.size()); }

}  // namespace

ResultFile::ResultFile(const Communicator& comm, const std::string& path) : comm_(comm), writer_(comm, path) {}

void ResultFile::describe(const RunRecord& run) {
  writer_.attribute("/", "program", run.program);
  writer_.attribute("/", "version", run.version);
  writer_.attribute("/", "config", run.config);
  writer_.attribute("/", "matrix", run.matrix);
  writer_.attribute("/", "rows", run.rows);
  writer_.attribute("/", "nonzeros", run.nonzeros);
  writer_.attribute("/", "ranks", run.ranks);
  writer_.attribute("/", "device", run.device);
  writer_.attribute("/", "setup_seconds", run.setup_seconds);
  writer_.attribute("/", "solve_seconds", run.solve_seconds);
  writer_.attribute("/", "iterations", run.iterations);
  writer_.attribute("/", "remark", run.remark);
  write(run.preconditioners);
  writer_.attribute("/preconditioners", "chosen", run.chosen);
  writer_.attribute("/preconditioners", "made", run.preconditioner_made);
  write(run.times);
  write(run.memory);
}

void ResultFile::write(const std::vector<ChoiceRecord>& preconditioners) {
  std::vector<std::int64_t> first;
  std::vector<std::string> descriptions;
  for (const ChoiceRecord& choice : preconditioners) {
    first.push_back(choice.first_iteration);
    descriptions.push_back(choice.description);
  }
  write("/preconditioners/first_iteration", first);
  writer_.dataset("/preconditioners/description", descriptions);
}

void ResultFile::write(const TimesRecord& times) {
  writer_.dataset("/times/phase", times.phases);
  write("/times/mean", times.mean);
  write("/times/slowest", times.slowest);
}

void ResultFile::write(const MemoryRecord& memory) {
  writer_.attribute("/", "memory", memory.host);
  writer_.attribute("/", "memory_predicted", memory.host_predicted);
  writer_.attribute("/", "gpu_memory", memory.device);
  writer_.attribute("/", "gpu_memory_predicted", memory.device_predicted);
}

void ResultFile::write(const PairsRecord& pairs) {
  write("/eigenvalues", pairs.eigenvalues);
  write("/residual_norms", pairs.residual_norms);
  write("/error_bounds", pairs.error_bounds);
  writer_.attribute("/error_bounds", "rigorous", pairs.rigorous);
  writer_.attribute("/error_bounds", "kind", pairs.bounds);
  write("/attained_tolerances", pairs.attained_tolerances);
  writer_.attribute("/attained_tolerances", "requested", pairs.requested_tolerance);
  writer_.attribute("/", "orthonormality", pairs.orthonormality);
  writer_.attribute("/", "proof", pairs.proof.made);
  writer_.attribute("/", "proof_statement", pairs.proof.statement);
  writer_.attribute("/", "proof_missing", pairs.proof.missing);
  writer_.attribute("/", "proof_recovered", pairs.proof.recovered);
  writer_.attribute("/", "proof_confidence", pairs.proof.confidence);
  writer_.attribute("/", "proof_smallest_gap", pairs.proof.smallest_gap);
  writer_.attribute("/", "proof_shift", pairs.proof.shift);
  writer_.attribute("/", "proof_counted", pairs.proof.counted);
  writer_.attribute("/", "proof_missing_from", pairs.proof.missing_from);
  writer_.attribute("/", "proof_missing_to", pairs.proof.missing_to);
  writer_.attribute("/", "proof_seconds", pairs.proof.seconds);
  writer_.dataset("/converged", pairs.converged);
  writer_.dataset("/status", pairs.status);
}

void ResultFile::write(const SolutionsRecord& solutions) {
  write("/rhs_norms", solutions.rhs_norms);
  write("/residual_norms", solutions.residual_norms);
  write("/recursive_residual_norms", solutions.recursive_residual_norms);
  write("/iterations", solutions.iterations);
  writer_.dataset("/converged", solutions.converged);
  writer_.dataset("/status", solutions.status);
}

void ResultFile::write(const HistoryRecord& history) {
  const std::vector<std::int64_t> table{history.iterations, history.width};
  if (length(history.eigenvalues) == history.iterations * history.width) {
    write_table("/history/eigenvalues", table, history.eigenvalues);
  }
  write_table("/history/residual_norms", table, history.residual_norms);
  write("/history/seconds", history.seconds);
  write("/history/active_columns", history.active_columns);
  write("/history/products", history.products.empty() ? history.active_columns : history.products);
  writer_.dataset("/history/in_float", history.in_float);
}

template <class T>
void ResultFile::write(const std::string& name, const Partition& partition, const DenseBlock<T>& block) {
  std::vector<T> values;
  comm_.collectively([&] { values = block.to_host(); });
  write(name, partition, block.cols(), values);
}

template <class T>
void ResultFile::write(const std::string& name, const Partition& partition, LocalIndex columns,
                       const std::vector<T>& values) {
  const GlobalIndex first = partition.begin(comm_.rank());
  writer_.rows(name, {partition.rows(), columns}, first, std::span<const T>(values));
  std::vector<std::uint64_t> sums;
  comm_.collectively([&] { sums.assign(static_cast<std::size_t>(columns), 0); });
  add_checksums(std::span<const T>(values), first, sums);
  add_over_ranks(comm_, sums);
  write_checksums(name, sums);
}

void ResultFile::write(const std::string& name, const std::vector<double>& values) {
  write_table(name, {length(values)}, values);
}

void ResultFile::write(const std::string& name, const std::vector<std::int64_t>& values) {
  write_table(name, {length(values)}, values);
}

template <class T>
void ResultFile::write_table(const std::string& name, const Hdf5Writer::Shape& shape,
                             const std::vector<T>& values) {
  writer_.dataset(name, shape, values);
  std::vector<std::uint64_t> sums(shape.size() == 1 ? 1 : static_cast<std::size_t>(shape[1]));
  add_checksums(std::span<const T>(values), 0, sums);
  write_checksums(name, sums);
}

void ResultFile::write_checksums(const std::string& name, const std::vector<std::uint64_t>& sums) {
  const std::vector<std::int64_t> numbers(sums.begin(), sums.end());
  writer_.dataset(checksums_group + name, {length(numbers)}, numbers);
}

void ResultFile::commit() { writer_.commit(); }

template void ResultFile::write(const std::string&, const Partition&, const DenseBlock<float>&);
template void ResultFile::write(const std::string&, const Partition&, const DenseBlock<double>&);
template void ResultFile::write(const std::string&, const Partition&, LocalIndex, const std::vector<float>&);
template void ResultFile::write(const std::string&, const Partition&, LocalIndex, const std::vector<double>&);

}  // namespace block_eigs
