#pragma once

#include <memory>
#include <vector>

#include "spmm/device/buffer.hpp"
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

  LocalIndex rows() const { return view_.rows; }
  LocalIndex columns() const { return view_.columns; }
  Offset nonzeros() const { return view_.nonzeros; }
  /// Device memory held, plan apart.
  std::size_t bytes() const;

  /// New numbers for the same pattern: nonzeros() of them in host memory, row by row, columns ascending.
  void set_values(const T* values) { values_.upload(values); }

  /// Makes room for products with up to `columns` columns.
  void reserve(LocalIndex columns) { plan_->reserve(columns); }
  /// C = A B and what `step` adds, see Kernels::spmm.
  void multiply(ConstBlockView<T> b, BlockView<T> c, const ProductStep<T>& step, const Progress& progress = {});
  /// C = A B or C += A B.
  void multiply(ConstBlockView<T> b, BlockView<T> c, Accumulate accumulate, const Progress& progress = {});

 private:
  std::shared_ptr<Kernels<T>> kernels_;
  Buffer<Offset> row_offsets_;
  Buffer<LocalIndex> column_indices_;
  Buffer<T> values_;
  Buffer<LocalIndex> row_map_;
  CsrView<T> view_;
  std::unique_ptr<SpmmPlan> plan_;
};

}  // namespace block_eigs
