#include "spmm/host/dense/gram.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "spmm/host/dense/mirror.hpp"
#include "spmm/host/dense/vector.hpp"
#include "spmm/host/runtime/threads.hpp"

namespace block_eigs::host {

namespace {

/// Rows whose products are summed in T before they join the sums in double.
constexpr std::ptrdiff_t rows_in_precision = 256;
constexpr std::ptrdiff_t tile_bytes = 40'960;
constexpr int widest = 3;
constexpr int highest = 8;

/// sums(h, v) += sum over rows of element h times vector v.
template <class T, int Bytes, int Height, int Vectors>
void sum_products(std::ptrdiff_t rows, const T* elements, std::ptrdiff_t element_stride, const T* vectors,
                  std::ptrdiff_t vector_stride, std::ptrdiff_t last, Prefetch prefetch, T* sums) {
  using Vector = Vector<T, Bytes>;
  constexpr int width = Vector::width;
  Vector sum[Height * Vectors];
  unroll<Height * Vectors>([&](auto i) { sum[i].load(sums + i * width); });
  for (std::ptrdiff_t row = 0; row < rows; ++row, elements += element_stride, vectors += vector_stride) {
    prefetch.advance();
    Vector x[Vectors];
    unroll<Vectors>([&](auto v) { x[v].load_once(vectors + (v == Vectors - 1 ? last : v * width)); });
    unroll<Height * Vectors>([&](auto i) { sum[i].add_product(elements[i / Vectors], x[i % Vectors]); });
  }
  unroll<Height * Vectors>([&](auto i) { sum[i].store(sums + i * width); });
}

template <class T, class Kernel, int Bytes, int Vectors, int... Less>
constexpr std::array<Kernel, highest> kernels_of_width(std::integer_sequence<int, Less...>) {
  constexpr int most = height_for(Vectors, Bytes);
  return {(Less < most ? sum_products<T, Bytes, std::min(Less + 1, most), Vectors> : nullptr)...};
}

/// kernels[vectors - 1][height - 1]
template <class T, class Kernel, int Bytes>
constexpr std::array<std::array<Kernel, highest>, widest> kernels = {
    kernels_of_width<T, Kernel, Bytes, 1>(std::make_integer_sequence<int, highest>{}),
    kernels_of_width<T, Kernel, Bytes, 2>(std::make_integer_sequence<int, highest>{}),
    kernels_of_width<T, Kernel, Bytes, 3>(std::make_integer_sequence<int, highest>{})};

/// Vector instructions a row when `vectors` is the side that is read in vectors.
template <class T>
int cost(const ConstBlockList<T>& elements, const ConstBlockList<T>& vectors) {
  int count = 0;
  for (const ConstBlockView<T>& view : vectors) count += Vector<T>::count_for(view.cols);
  return count * elements.cols();
}

}  // namespace

template <class T>
void Gram<T>::multiply(const ConstBlockList<T>& left, const ConstBlockList<T>& right, SmallMatrix& result) {
  const std::ptrdiff_t row_bytes = (left.cols() + right.cols()) * static_cast<std::ptrdiff_t>(sizeof(T));
  if (left.rows() == 0 || row_bytes == 0) return result.resize(left.cols(), right.cols());
  const std::ptrdiff_t tile = std::clamp<std::ptrdiff_t>(tile_bytes / row_bytes / 8 * 8, 32, rows_in_precision);
  begin(left, right, tile);
  prefetches_.clear();
  for (const ConstBlockView<T>& view : elements_) prefetches_.add(view);
  for (const ConstBlockView<T>& view : vectors_) prefetches_.add(view);
  prefetches_.deal(tile, static_cast<std::ptrdiff_t>(pieces_.size()), tile);
  const int parts = threads_for(left.rows());
#pragma omp parallel for schedule(static, 1) num_threads(parts)
  for (int part = 0; part < parts; ++part) {
    const Range own = part_of(left.rows(), part, parts);
    for (std::ptrdiff_t row = own.begin; row < own.end; row += tile) {
      add(part, row, std::min(row + tile, own.end), &prefetches_);
    }
  }
  finish(result);
}

template <class T>
void Gram<T>::begin(const ConstBlockList<T>& left, const ConstBlockList<T>& right, std::ptrdiff_t most_rows) {
  swapped_ = cost(right, left) < cost(left, right);
  symmetric_ = false;
  elements_ = swapped_ ? right : left;
  vectors_ = swapped_ ? left : right;
  make_sums(most_rows);
}

template <class T>
void Gram<T>::begin_symmetric(ConstBlockView<T> x, ConstBlockView<T> y, std::ptrdiff_t most_rows) {
  swapped_ = false;
  symmetric_ = true;
  elements_ = {x};
  vectors_ = {y};
  make_sums(most_rows);
}

template <class T>
void Gram<T>::make_sums(std::ptrdiff_t most_rows) {
  cut();
  parts_.resize(static_cast<std::size_t>(threads()));
  for (Part& part : parts_) {
    part.scratch.template reserve<T>(sums_ + static_cast<std::size_t>(most_rows) * copy_width_);
    part.rows_in_precision = 0;
  }
  thread_sums_.assign(parts_.size() * sums_, 0.0);
}

template <class T>
void Gram<T>::finish(SmallMatrix& result) {
  for (std::size_t part = 0; part < parts_.size(); ++part) close(static_cast<int>(part));
  for (std::size_t i = sums_; i < thread_sums_.size(); ++i) thread_sums_[i % sums_] += thread_sums_[i];
  result.resize(swapped_ ? vectors_.cols() : elements_.cols(), swapped_ ? elements_.cols() : vectors_.cols());
  if (result.values().empty()) return;
  unpack(result);
  copy_mirrored(elements_, vectors_, ProductView(result, swapped_));
  if (!symmetric_) return;
  for (int j = 0; j < result.cols(); ++j) {
    for (int i = j + 1; i < result.rows(); ++i) result(i, j) = result(j, i);
  }
}

template <class T>
void Gram<T>::cut() {
  pieces_.clear();
  narrow_.clear();
  sums_ = 0;
  copy_width_ = 0;
  if (elements_.rows() == 0) return;  // views without rows are nowhere
  for (int j = 0, column = 0; j < vectors_.size(); column += vectors_[j].cols, ++j) {
    if (vectors_[j].cols < Vector<T>::width) {
      narrow_.push_back({vectors_[j], copy_width_});
      copy_width_ += static_cast<std::size_t>(Vector<T>::width);
    }
    for (int i = 0, row = 0; i < elements_.size(); row += elements_[i].cols, ++i) {
      const Mirror kind = symmetric_ ? Mirror::itself : mirror(elements_, i, vectors_, j);
      if (kind != Mirror::earlier) cut_pair(elements_[i], row, vectors_[j], column, kind == Mirror::itself);
    }
  }
  for (Piece& piece : pieces_) {
    if (piece.vectors == nullptr) piece.vector_stride = static_cast<std::ptrdiff_t>(copy_width_);
  }
}

template <class T>
void Gram<T>::cut_pair(ConstBlockView<T> elements, int row, ConstBlockView<T> vectors, int column,
                       bool upper_half) {
  constexpr int narrowest = Vector<T>::width;
  constexpr int wide = Vector<T, wide_bytes>::width;
  Piece piece{};
  piece.row = row;
  piece.column = column;
  piece.element_stride = elements.stride;
  piece.vector_stride = vectors.stride;
  if (vectors.cols < narrowest) piece.copy = narrow_.back().copy;
  // Wide vectors, and narrow ones for the columns that they leave. Fewer at a time pass over more of the lower
  // half.
  int left = 0;
  if constexpr (wide > narrowest) {
    left = vectors.cols / wide * wide;
    cut_columns<wide_bytes>(elements, vectors, {0, left}, upper_half ? 1 : widest, piece, upper_half);
  }
  cut_columns<32>(elements, vectors, {left, vectors.cols}, widest, piece, upper_half);
}

/// Columns of the vector side, `most` vectors at a time; the last vector may overlap what is before it.
template <class T>
template <int Bytes>
void Gram<T>::cut_columns(ConstBlockView<T> elements, ConstBlockView<T> vectors, Range columns, int most,
                          Piece piece, bool upper_half) {
  constexpr int width = Vector<T, Bytes>::width;
  const bool narrow = vectors.cols < width;
  const int vector_count = Vector<T, Bytes>::count_for(static_cast<int>(columns.end - columns.begin));
  const int groups = (vector_count + most - 1) / most;
  const int row = piece.row;
  const int column = piece.column;
  for (int group = 0; group < groups; ++group) {
    const auto [first_vector, end_vector] = part_of(vector_count, group, groups);
    const int wide = static_cast<int>(end_vector - first_vector);
    const int end_column = static_cast<int>(std::min(columns.begin + end_vector * width, columns.end));
    const int first_column = static_cast<int>(columns.begin + first_vector * width);
    const int heights = (elements.cols + height_for(wide, Bytes) - 1) / height_for(wide, Bytes);
    for (int i = 0; i < heights; ++i) {
      const auto [first_row, end_row] = part_of(elements.cols, i, heights);
      if (upper_half && first_row >= end_column) continue;
      piece.height = static_cast<int>(end_row - first_row);
      piece.vectors_wide = wide;
      piece.width = width;
      piece.kernel = kernels<T, Kernel, Bytes>[static_cast<std::size_t>(wide) - 1]
                                              [static_cast<std::size_t>(piece.height) - 1];
      piece.elements = elements.data + first_row;
      piece.vectors = narrow ? nullptr : vectors.data + first_column;
      piece.last = narrow ? 0 : end_column - width - first_column;
      piece.row = row + static_cast<int>(first_row);
      piece.column = column + first_column;
      piece.sums = sums_;
      pieces_.push_back(piece);
      sums_ += static_cast<std::size_t>(piece.height * wide * width);
    }
  }
}

template <class T>
void Gram<T>::add(int part, std::ptrdiff_t begin, std::ptrdiff_t end, const PrefetchPlan<T>* prefetches) {
  Part& own = parts_[static_cast<std::size_t>(part)];
  T* const sums = own.scratch.template take<T>();
  T* const copies = sums + sums_;
  if (own.rows_in_precision == 0) std::fill_n(sums, sums_, T(0));
  const std::ptrdiff_t rows = end - begin;
  copy_narrow(begin, rows, copies);
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const Piece& piece = pieces_[i];
    const T* vectors =
        piece.vectors == nullptr ? copies + piece.copy : piece.vectors + begin * piece.vector_stride;
    piece.kernel(rows, piece.elements + begin * piece.element_stride, piece.element_stride, vectors,
                 piece.vector_stride, piece.last, prefetches == nullptr ? Prefetch{} : (*prefetches)(i, end),
                 sums + piece.sums);
  }
  own.rows_in_precision += rows;
  if (own.rows_in_precision >= rows_in_precision) close(part);
}

/// Sums in T of a thread join those in double.
template <class T>
void Gram<T>::close(int part) {
  Part& own = parts_[static_cast<std::size_t>(part)];
  if (own.rows_in_precision == 0) return;
  const T* from = own.scratch.template take<T>();
  double* to = thread_sums_.data() + static_cast<std::size_t>(part) * sums_;
  for (std::size_t i = 0; i < sums_; ++i) to[i] += static_cast<double>(from[i]);
  own.rows_in_precision = 0;
}

template <class T>
void Gram<T>::copy_narrow(std::ptrdiff_t begin, std::ptrdiff_t rows, T* copies) const {
  for (const Narrow& narrow : narrow_) {
    for (std::ptrdiff_t row = 0; row < rows; ++row) {
      const T* from = narrow.view.data + (begin + row) * narrow.view.stride;
      T* to = copies + static_cast<std::size_t>(row) * copy_width_ + narrow.copy;
      for (int j = 0; j < Vector<T>::width; ++j) to[j] = j < narrow.view.cols ? from[j] : T(0);
    }
  }
}

template <class T>
void Gram<T>::unpack(SmallMatrix& result) const {
  const ProductView product(result, swapped_);
  for (const Piece& piece : pieces_) {
    const int width = piece.width;
    const double* sums = thread_sums_.data() + piece.sums;
    const int columns =
        piece.vectors == nullptr ? narrow_[piece.copy / static_cast<std::size_t>(width)].view.cols : width;
    for (int i = 0; i < piece.height * piece.vectors_wide; ++i, sums += width) {
      const int v = i % piece.vectors_wide;
      const int first = v == piece.vectors_wide - 1 ? static_cast<int>(piece.last) : v * width;
      for (int j = 0; j < columns; ++j)
        product(piece.row + i / piece.vectors_wide, piece.column + first + j) = sums[j];
    }
  }
}

template class Gram<float>;
template class Gram<double>;

}  // namespace block_eigs::host
