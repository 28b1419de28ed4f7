#include "spmm/csr_matrix.hpp"

#include <string>

#include "spmm/error.hpp"

namespace block_eigs {

namespace {

template <class T>
void check(const CsrArrays<T>& a) {
  require(!a.row_offsets.empty() && a.row_offsets.front() == 0, "sparse matrix: row offsets must start at 0");
  require(
      a.column_indices.size() == a.values.size() && a.row_offsets.back() == static_cast<Offset>(a.values.size()),
      "sparse matrix: the last row offset must equal the number of nonzeros");
  const std::size_t rows = a.row_offsets.size() - 1;
  require(a.row_map.empty() || a.row_map.size() == rows, "sparse matrix: the row map must have an entry per row");
  for (std::size_t i = 0; i < rows; ++i) {
    if (a.row_offsets[i] > a.row_offsets[i + 1]) {
      throw InputError("sparse matrix: row offsets decrease at row " + std::to_string(i));
    }
    LocalIndex previous = -1;
    for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
      const LocalIndex column = a.column_indices[static_cast<std::size_t>(k)];
      if (column <= previous || column >= a.columns) {
        throw InputError("sparse matrix: row " + std::to_string(i) + ": column " + std::to_string(column) +
                         " is out of range or out of order (columns: " + std::to_string(a.columns) + ")");
      }
      previous = column;
    }
  }
}

template <class T>
Buffer<T> uploaded(const std::shared_ptr<Device>& device, const std::vector<T>& values) {
  Buffer<T> buffer(device, values.size());
  buffer.upload(values.data());
  return buffer;
}

}  // namespace

template <class T>
CsrMatrix<T>::CsrMatrix(const Context<T>& context, CsrArrays<T> arrays, const SpmmOptions& options)
    : kernels_(context.kernels) {
  check(arrays);
  row_offsets_ = uploaded(context.device, arrays.row_offsets);
  column_indices_ = uploaded(context.device, arrays.column_indices);
  values_ = uploaded(context.device, arrays.values);
  row_map_ = uploaded(context.device, arrays.row_map);
  const auto rows = static_cast<LocalIndex>(arrays.row_offsets.size() - 1);
  const Offset nonzeros = arrays.row_offsets.back();
  view_ = {rows,           arrays.columns, nonzeros, row_offsets_.data(), column_indices_.data(),
           values_.data(), row_map_.data()};
  const CsrView<T> on_host{rows,
                           arrays.columns,
                           nonzeros,
                           arrays.row_offsets.data(),
                           arrays.column_indices.data(),
                           arrays.values.data(),
                           arrays.row_map.empty() ? nullptr : arrays.row_map.data()};
  plan_ = kernels_->analyse(context.device->host_addressable() ? view_ : on_host, view_, options);
}

template <class T>
std::size_t CsrMatrix<T>::bytes() const {
  return row_offsets_.size() * sizeof(Offset) + column_indices_.size() * sizeof(LocalIndex) +
         values_.size() * sizeof(T) + row_map_.size() * sizeof(LocalIndex);
}

template <class T>
void CsrMatrix<T>::multiply(ConstBlockView<T> b, BlockView<T> c, Accumulate accumulate, const Progress& progress) {
  kernels_->spmm(*plan_, view_, b, c, accumulate, progress);
}

template class CsrMatrix<float>;
template class CsrMatrix<double>;

}  // namespace block_eigs
