#include "apps/choice/coupled_parts.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "spmm/matrix/copied_entries.hpp"

namespace block_eigs {

namespace {

/// Sets of rows, each with the least of them as its root.
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t rows) : parent_(rows) {
    std::iota(parent_.begin(), parent_.end(), std::int64_t{0});
  }

  std::int64_t root(std::int64_t row) {
    for (; at(row) != row; row = at(row)) at(row) = at(at(row));
    return row;
  }
  void join(std::int64_t i, std::int64_t j) {
    const std::int64_t first = root(i);
    const std::int64_t second = root(j);
    at(std::max(first, second)) = std::min(first, second);
  }
  std::vector<std::int64_t> roots() {
    std::vector<std::int64_t> result;
    for (std::size_t row = 0; row < parent_.size(); ++row) result.push_back(root(static_cast<std::int64_t>(row)));
    return result;
  }

 private:
  std::int64_t& at(std::int64_t row) { return parent_[static_cast<std::size_t>(row)]; }

  std::vector<std::int64_t> parent_;
};

template <class T>
void join_coupled(const DistributedMatrix<T>& matrix, DisjointSets& sets) {
  constexpr LocalIndex rows_at_once = 512;
  const GlobalIndex begin = matrix.row_partition().begin(matrix.context().comm.rank());
  for (LocalIndex first = 0; first < matrix.rows(); first += rows_at_once) {
    const MatrixEntries entries = copied_entries(matrix, first, std::min(rows_at_once, matrix.rows() - first));
    for (std::size_t k = 0; k < entries.size(); ++k)
      if (entries.values[k] != 0.0) sets.join(begin + entries.rows[k], entries.columns[k]);
  }
}

}  // namespace

template <class T>
CoupledParts coupled_parts(const DistributedMatrix<T>& a, const DistributedMatrix<T>* b) {
  const Communicator& comm = a.context().comm;
  const auto rows = static_cast<std::size_t>(a.row_partition().rows());
  std::vector<std::vector<std::int64_t>> own(static_cast<std::size_t>(comm.size()));
  comm.collectively([&] {
    DisjointSets sets(rows);
    join_coupled(a, sets);
    if (b != nullptr) join_coupled(*b, sets);
    std::fill(own.begin(), own.end(), sets.roots());
  });
  // What each rank couples, joined by all.
  const auto of_ranks = comm.all_to_all(own);
  DisjointSets sets(rows);
  for (const std::vector<std::int64_t>& roots : of_ranks) {
    for (std::size_t row = 0; row < rows; ++row) sets.join(static_cast<std::int64_t>(row), roots[row]);
  }
  std::vector<double> sizes(rows, 0.0);
  for (const std::int64_t root : sets.roots()) sizes[static_cast<std::size_t>(root)] += 1.0;
  CoupledParts parts;
  for (const double size : sizes) {
    parts.largest = std::max(parts.largest, size);
    parts.cubes += size * size * size;
  }
  return parts;
}

template CoupledParts coupled_parts(const DistributedMatrix<float>&, const DistributedMatrix<float>*);
template CoupledParts coupled_parts(const DistributedMatrix<double>&, const DistributedMatrix<double>*);

}  // namespace block_eigs
