#pragma once

#include <cstddef>
#include <vector>

#include "spmm/host/runtime/scratch.hpp"
#include "spmm/host/sparse/prefetch.hpp"
#include "spmm/small_matrix.hpp"
#include "spmm/types.hpp"

namespace block_eigs::host {

/// Products [left]^T [right] of tall blocks. The result is cut into pieces of a few columns of one side (read
/// element by element) times a few vectors of columns of the other side, small enough for the registers. Rows pass
/// tile by tile, so that a tile is read from memory once and from the nearest caches for all pieces.
template <class T>
class Gram {
 public:
  /// See Kernels::gram. Where the same view stands on both sides, only one half of the products is computed.
  void multiply(const ConstBlockList<T>& left, const ConstBlockList<T>& right, SmallMatrix& result);

 private:
  using Kernel = void (*)(std::ptrdiff_t rows, const T* elements, std::ptrdiff_t element_stride, const T* vectors,
                          std::ptrdiff_t vector_stride, std::ptrdiff_t last, Prefetch prefetch, T* sums);

  /// One piece of the result: columns `row` .. of the element side, `column` .. of the vector side.
  struct Piece {
    Kernel kernel;
    const T* elements;
    std::ptrdiff_t element_stride;
    const T* vectors;  ///< null where the thread's padded copy is meant
    std::ptrdiff_t vector_stride;
    std::ptrdiff_t last;  ///< where the last vector starts: it may overlap the one before
    std::size_t copy;     ///< column of the padded copy
    std::size_t sums;     ///< position among the sums
    int row, column, height, vectors_wide;
  };

  /// Blocks of the vector side that are narrower than a vector are copied tile by tile and padded with zeros.
  struct Narrow {
    ConstBlockView<T> view;
    std::size_t copy;
  };

  void cut(const ConstBlockList<T>& elements, const ConstBlockList<T>& vectors);
  void cut_pair(ConstBlockView<T> elements, int row, ConstBlockView<T> vectors, int column, bool upper_half);
  void sum_rows(std::ptrdiff_t begin, std::ptrdiff_t end, std::ptrdiff_t tile, Scratch& scratch,
                double* sums) const;
  void sum_tile(std::ptrdiff_t begin, std::ptrdiff_t rows, std::ptrdiff_t tile, T* copies, T* sums) const;
  void copy_narrow(std::ptrdiff_t begin, std::ptrdiff_t rows, T* copies) const;
  void unpack(bool swapped, SmallMatrix& result) const;

  std::vector<Piece> pieces_;
  std::vector<Narrow> narrow_;
  PrefetchPlan<T> prefetches_;
  std::size_t sums_ = 0;
  std::size_t copy_width_ = 0;
  std::vector<Scratch> scratch_;
  std::vector<double> thread_sums_;
};

}  // namespace block_eigs::host
