#include "io/petsc/plugin/gpu_matrix_part.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "spmm/error.hpp"

namespace block_eigs::petsc {

namespace {

bool rows_are_sorted(const BorrowedCsr<PetscInt>& csr) {
  for (PetscInt i = 0; i < csr.rows; ++i) {
    if (!std::is_sorted(csr.columns + csr.row_offsets[i], csr.columns + csr.row_offsets[i + 1])) return false;
  }
  return true;
}

/// Empty where the entries are sorted.
std::vector<std::size_t> sorted_order(const BorrowedCsr<PetscInt>& csr) {
  if (rows_are_sorted(csr)) return {};
  std::vector<std::size_t> order(static_cast<std::size_t>(csr.row_offsets[csr.rows]));
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (PetscInt i = 0; i < csr.rows; ++i) {
    std::sort(order.begin() + csr.row_offsets[i], order.begin() + csr.row_offsets[i + 1],
              [&](std::size_t k, std::size_t l) { return csr.columns[k] < csr.columns[l]; });
  }
  return order;
}

/// values[order[k]], or what `values` holds where there is no order.
template <class T>
std::vector<T> in_order(const std::vector<std::size_t>& order, const T* values, std::size_t count) {
  if (order.empty()) return {values, values + count};
  std::vector<T> result(count);
  std::transform(order.begin(), order.end(), result.begin(), [&](std::size_t k) { return values[k]; });
  return result;
}

std::size_t nonzeros_of(const BorrowedCsr<PetscInt>& csr) {
  return csr.rows > 0 ? static_cast<std::size_t>(csr.row_offsets[csr.rows]) : 0;
}

}  // namespace

GpuMatrixPart::GpuMatrixPart(const BorrowedCsr<PetscInt>& csr) : order_(sorted_order(csr)) {}

CsrArrays<double> GpuMatrixPart::arrays(const BorrowedCsr<PetscInt>& csr, PetscInt columns, bool some_rows) const {
  constexpr std::int64_t most = std::numeric_limits<LocalIndex>::max();
  require(std::int64_t{csr.rows} <= most && std::int64_t{columns} <= most,
          "on a GPU a rank can have up to 2^31 - 1 rows and columns");
  CsrArrays<double> arrays;
  arrays.columns = static_cast<LocalIndex>(columns);
  for (PetscInt i = 0; i < csr.rows; ++i) {
    if (some_rows && csr.row_offsets[i] == csr.row_offsets[i + 1]) continue;
    if (some_rows) arrays.row_map.push_back(static_cast<LocalIndex>(i));
    arrays.row_offsets.push_back(csr.row_offsets[i + 1]);
  }
  const std::vector<PetscInt> sorted = in_order(order_, csr.columns, nonzeros_of(csr));
  arrays.column_indices.assign(sorted.begin(), sorted.end());
  arrays.values = in_order(order_, csr.values, nonzeros_of(csr));
  return arrays;
}

void GpuMatrixPart::refresh(const BorrowedCsr<PetscInt>& csr,
                            const std::function<void(const double*)>& set_values) const {
  if (order_.empty()) {
    set_values(csr.values);
  } else {
    set_values(in_order(order_, csr.values, nonzeros_of(csr)).data());
  }
}

}  // namespace block_eigs::petsc
