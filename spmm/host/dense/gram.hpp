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

  /// The same for who makes the blocks and has their rows at hand: begin, then add() of every row once, up to
  /// `most_rows` at a time, by the threads `part` < threads(), then finish. Nothing is fetched ahead.
  void begin(const ConstBlockList<T>& left, const ConstBlockList<T>& right, std::ptrdiff_t most_rows);
  /// Of x^T y, where that is symmetric: one half is computed.
  void begin_symmetric(ConstBlockView<T> x, ConstBlockView<T> y, std::ptrdiff_t most_rows);
  void add(int part, std::ptrdiff_t begin, std::ptrdiff_t end) { add(part, begin, end, nullptr); }
  void finish(SmallMatrix& result);

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
    std::ptrdiff_t last;  ///< where the last vector starts: it may overlap what is before it
    std::size_t copy;     ///< column of the padded copy
    std::size_t sums;     ///< position among the sums
    int row, column, height, vectors_wide, width;
  };

  /// Blocks of the vector side that are narrower than a vector are copied tile by tile and padded with zeros.
  struct Narrow {
    ConstBlockView<T> view;
    std::size_t copy;
  };

  void cut();
  void cut_pair(ConstBlockView<T> elements, int row, ConstBlockView<T> vectors, int column, bool upper_half);
  template <int Bytes>
  void cut_columns(ConstBlockView<T> elements, ConstBlockView<T> vectors, Range columns, int most, Piece piece,
                   bool upper_half);
  void make_sums(std::ptrdiff_t most_rows);
  /// The rows that follow are fetched as `prefetches` says, if it is not null.
  void add(int part, std::ptrdiff_t begin, std::ptrdiff_t end, const PrefetchPlan<T>* prefetches);
  void close(int part);
  void copy_narrow(std::ptrdiff_t begin, std::ptrdiff_t rows, T* copies) const;
  void unpack(SmallMatrix& result) const;

  /// What a thread works in: sums in T, behind them the padded copies.
  struct Part {
    Scratch scratch;
    std::ptrdiff_t rows_in_precision = 0;  ///< whose products the sums hold
  };

  ConstBlockList<T> elements_{};
  ConstBlockList<T> vectors_{};
  bool swapped_ = false;    ///< elements are those of the right side
  bool symmetric_ = false;  ///< though views differ
  std::vector<Piece> pieces_;
  std::vector<Narrow> narrow_;
  PrefetchPlan<T> prefetches_;
  std::size_t sums_ = 0;
  std::size_t copy_width_ = 0;
  std::vector<Part> parts_;
  std::vector<double> thread_sums_;
};

}  // namespace block_eigs::host
