#pragma once

#include <memory>
#include <vector>

#include "spmm/device/buffer.hpp"
#include "spmm/device/csr_buffers.hpp"
#include "spmm/device/kernels.hpp"
#include "spmm/parallel/context.hpp"
#include "spmm/types.hpp"

namespace block_eigs {

/// Arrays of a sparse matrix in host memory, on their way into a CsrMatrix. `row_map` is empty or holds for
/// every row the row of the result that it belongs to.
template <class T>
struct CsrArrays {
  LocalIndex columns = 0;
  std::vector<Offset> row_offsets{0};
  std::vector<LocalIndex> column_indices;
  std::vector<T> values;
  std::vector<LocalIndex> row_map;
};

/// Sparse matrix of one rank in device memory, local column numbers. Not collective.
template <class T>
class CsrMatrix {
 public:
  /// Checks the arrays once (offsets monotone, columns in range and ascending); throws InputError.
  CsrMatrix(const Context<T>& context, CsrArrays<T> arrays, const SpmmOptions& options);
  /// Of arrays that are on the device already, and right. The pattern stays shared.
  CsrMatrix(const Context<T>& context, CsrBuffers<T> arrays, const SpmmOptions& options,
            Buffer<LocalIndex> row_map = {});

  LocalIndex rows() const { return view_.rows; }
  LocalIndex columns() const { return view_.columns; }
  Offset nonzeros() const { return view_.nonzeros; }
  /// The arrays in device memory, and the pattern alone, for matrices that have the same one.
  const CsrView<T>& view() const { return view_; }
  const std::shared_ptr<const CsrPattern>& pattern() const { return arrays_.pattern; }
  const Buffer<T>& values() const { return arrays_.values; }
  /// Of the result, the rows that its own belong to; empty where these are all.
  const Buffer<LocalIndex>& row_map() const { return row_map_; }
  /// Device memory held, plan apart.
  std::size_t bytes() const;

  /// New numbers for the same pattern: nonzeros() of them in host memory, row by row, columns ascending.
  void set_values(const T* values) { arrays_.values.upload(values); }

  /// Makes room for products with up to `columns` columns.
  void reserve(LocalIndex columns) { plan_->reserve(columns); }
  /// C = A B and what `step` adds, see Kernels::spmm.
  void multiply(ConstBlockView<T> b, BlockView<T> c, const ProductStep<T>& step, const Progress& progress = {});
  /// C = A B or C += A B.
  void multiply(ConstBlockView<T> b, BlockView<T> c, Accumulate accumulate, const Progress& progress = {});

 private:
  std::shared_ptr<Kernels<T>> kernels_;
  CsrBuffers<T> arrays_;
  Buffer<LocalIndex> row_map_;
  CsrView<T> view_;
  std::unique_ptr<SpmmPlan> plan_;
};

/// The same matrix with its numbers rounded, on the device. The pattern is shared. Not collective.
CsrMatrix<float> in_float(const Context<float>& context, const CsrMatrix<double>& a, const SpmmOptions& options);

}  // namespace block_eigs
