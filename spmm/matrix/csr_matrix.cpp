#include "spmm/matrix/csr_matrix.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "spmm/device/sparse_algebra.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// Offsets that do not decrease, columns in range and ascending.
template <class T>
bool row_is_right(const CsrArrays<T>& a, std::size_t i) {
  const Offset begin = a.row_offsets[i];
  const Offset end = a.row_offsets[i + 1];
  if (begin > end || begin < 0 || end > a.row_offsets.back()) return false;
  LocalIndex previous = -1;
  for (Offset k = begin; k < end; ++k) {
    const LocalIndex column = a.column_indices[static_cast<std::size_t>(k)];
    if (column <= previous || column >= a.columns) return false;
    previous = column;
  }
  return true;
}

/// Throws for the row that is wrong.
template <class T>
[[noreturn]] void explain(const CsrArrays<T>& a, std::size_t i) {
  const Offset begin = a.row_offsets[i];
  const Offset end = a.row_offsets[i + 1];
  const std::string row = "row " + std::to_string(i);
  if (begin > end || begin < 0 || end > a.row_offsets.back()) {
    throw InputError("sparse matrix: row offsets decrease at " + row);
  }
  const auto first = a.column_indices.begin() + begin;
  const auto last = a.column_indices.begin() + end;
  auto at = std::adjacent_find(first, last, [](LocalIndex x, LocalIndex y) { return x >= y; });
  if (at != last) ++at;
  const auto outside = std::find_if(first, last, [&](LocalIndex x) { return x < 0 || x >= a.columns; });
  if (outside < at) at = outside;
  throw InputError("sparse matrix: " + row + ": column " + std::to_string(*at) +
                   " is out of range or out of order (columns: " + std::to_string(a.columns) + ")");
}

template <class T>
void check(const CsrArrays<T>& a) {
  require(!a.row_offsets.empty() && a.row_offsets.front() == 0, "sparse matrix: row offsets must start at 0");
  require(
      a.column_indices.size() == a.values.size() && a.row_offsets.back() == static_cast<Offset>(a.values.size()),
      "sparse matrix: the last row offset must equal the number of nonzeros");
  const std::size_t rows = a.row_offsets.size() - 1;
  require(a.row_map.empty() || a.row_map.size() == rows, "sparse matrix: the row map must have an entry per row");
  std::size_t wrong = rows;
#pragma omp parallel for schedule(static) reduction(min : wrong) if (rows > 0)
  for (std::size_t i = 0; i < rows; ++i) {
    if (!row_is_right(a, i)) wrong = std::min(wrong, i);
  }
  if (wrong < rows) explain(a, wrong);
}

template <class T>
Buffer<T> uploaded(const std::shared_ptr<Device>& device, const std::vector<T>& values) {
  Buffer<T> buffer(device, values.size());
  buffer.upload(values.data());
  return buffer;
}

Buffer<LocalIndex> copy_of(const Buffer<LocalIndex>& numbers) {
  if (numbers.size() == 0) return {};
  std::vector<LocalIndex> on_host(numbers.size());
  numbers.download(on_host.data());
  return uploaded(numbers.device(), on_host);
}

}  // namespace

template <class T>
CsrMatrix<T>::CsrMatrix(const Context<T>& context, CsrArrays<T> arrays, const SpmmOptions& options)
    : kernels_(context.kernels) {
  check(arrays);
  auto pattern = std::make_shared<CsrPattern>();
  pattern->rows = static_cast<LocalIndex>(arrays.row_offsets.size() - 1);
  pattern->columns = arrays.columns;
  pattern->nonzeros = arrays.row_offsets.back();
  pattern->row_offsets = uploaded(context.device, arrays.row_offsets);
  pattern->column_indices = uploaded(context.device, arrays.column_indices);
  arrays_ = {std::move(pattern), uploaded(context.device, arrays.values)};
  row_map_ = uploaded(context.device, arrays.row_map);
  view_ = arrays_.view();
  view_.row_map = row_map_.data();
  plan_ = kernels_->analyse(view_, options);
}

template <class T>
CsrMatrix<T>::CsrMatrix(const Context<T>& context, CsrBuffers<T> arrays, const SpmmOptions& options,
                        Buffer<LocalIndex> row_map)
    : kernels_(context.kernels), arrays_(std::move(arrays)), row_map_(std::move(row_map)), view_(arrays_.view()) {
  view_.row_map = row_map_.data();
  plan_ = kernels_->analyse(view_, options);
}

template <class T>
std::size_t CsrMatrix<T>::bytes() const {
  return arrays_.pattern->bytes() + arrays_.values.size() * sizeof(T) + row_map_.size() * sizeof(LocalIndex);
}

template <class T>
void CsrMatrix<T>::multiply(ConstBlockView<T> b, BlockView<T> c, const ProductStep<T>& step,
                            const Progress& progress) {
  kernels_->spmm(*plan_, view_, b, c, step, progress);
}

template <class T>
void CsrMatrix<T>::multiply(ConstBlockView<T> b, BlockView<T> c, Accumulate accumulate, const Progress& progress) {
  kernels_->spmm(*plan_, view_, b, c, accumulate, progress);
}

CsrMatrix<float> in_float(const Context<float>& context, const CsrMatrix<double>& a, const SpmmOptions& options) {
  Buffer<float> values = make_sparse_algebra(context.device)->to_float(a.values());
  return {context, CsrBuffers<float>{a.pattern(), std::move(values)}, options, copy_of(a.row_map())};
}

template class CsrMatrix<float>;
template class CsrMatrix<double>;

}  // namespace block_eigs
