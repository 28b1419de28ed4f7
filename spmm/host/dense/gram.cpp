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

/// Most element columns that go with `vectors` vectors: their product must stay below the number of registers.
constexpr int height_for(int vectors) { return vectors == 1 ? 8 : vectors == 2 ? 6 : 4; }

/// sums(h, v) += sum over rows of element h times vector v.
template <class T, int Height, int Vectors>
void sum_products(std::ptrdiff_t rows, const T* elements, std::ptrdiff_t element_stride, const T* vectors,
                  std::ptrdiff_t vector_stride, std::ptrdiff_t last, Prefetch prefetch, T* sums) {
  constexpr int width = Vector<T>::width;
  Vector<T> sum[Height * Vectors];
  unroll<Height * Vectors>([&](auto i) { sum[i].load(sums + i * width); });
  for (std::ptrdiff_t row = 0; row < rows; ++row, elements += element_stride, vectors += vector_stride) {
    prefetch.advance();
    Vector<T> x[Vectors];
    unroll<Vectors>([&](auto v) { x[v].load_once(vectors + (v == Vectors - 1 ? last : v * width)); });
    unroll<Height * Vectors>([&](auto i) { sum[i].add_product(elements[i / Vectors], x[i % Vectors]); });
  }
  unroll<Height * Vectors>([&](auto i) { sum[i].store(sums + i * width); });
}

template <class T, class Kernel, int Vectors, int... Less>
constexpr std::array<Kernel, highest> kernels_of_width(std::integer_sequence<int, Less...>) {
  return {(Less < height_for(Vectors) ? sum_products<T, std::min(Less + 1, height_for(Vectors)), Vectors>
                                      : nullptr)...};
}

/// kernels[vectors - 1][height - 1]
template <class T, class Kernel>
constexpr std::array<std::array<Kernel, highest>, widest> kernels = {
    kernels_of_width<T, Kernel, 1>(std::make_integer_sequence<int, highest>{}),
    kernels_of_width<T, Kernel, 2>(std::make_integer_sequence<int, highest>{}),
    kernels_of_width<T, Kernel, 3>(std::make_integer_sequence<int, highest>{})};

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
  result.resize(left.cols(), right.cols());
  if (left.rows() == 0 || result.values().empty()) return;
  const bool swapped = cost(right, left) < cost(left, right);
  const ConstBlockList<T>& elements = swapped ? right : left;
  const ConstBlockList<T>& vectors = swapped ? left : right;
  cut(elements, vectors);
  const std::ptrdiff_t row_bytes = (left.cols() + right.cols()) * static_cast<std::ptrdiff_t>(sizeof(T));
  const std::ptrdiff_t tile = std::clamp<std::ptrdiff_t>(tile_bytes / row_bytes / 8 * 8, 32, rows_in_precision);
  prefetches_.clear();
  for (const ConstBlockView<T>& view : elements) prefetches_.add(view);
  for (const ConstBlockView<T>& view : vectors) prefetches_.add(view);
  prefetches_.deal(tile, static_cast<std::ptrdiff_t>(pieces_.size()), tile);
  const int parts = threads();
  scratch_.resize(static_cast<std::size_t>(parts));
  for (Scratch& scratch : scratch_) scratch.reserve<T>(sums_ + static_cast<std::size_t>(tile) * copy_width_);
  thread_sums_.assign(static_cast<std::size_t>(parts) * sums_, 0.0);
#pragma omp parallel for schedule(static, 1) num_threads(parts)
  for (int part = 0; part < parts; ++part) {
    const auto position = static_cast<std::size_t>(part);
    const Range own = part_of(left.rows(), part, parts);
    sum_rows(own.begin, own.end, tile, scratch_[position], thread_sums_.data() + position * sums_);
  }
  for (std::size_t i = sums_; i < thread_sums_.size(); ++i) thread_sums_[i % sums_] += thread_sums_[i];
  unpack(swapped, result);
  copy_mirrored(elements, vectors, ProductView(result, swapped));
}

template <class T>
void Gram<T>::cut(const ConstBlockList<T>& elements, const ConstBlockList<T>& vectors) {
  pieces_.clear();
  narrow_.clear();
  sums_ = 0;
  copy_width_ = 0;
  for (int j = 0, column = 0; j < vectors.size(); column += vectors[j].cols, ++j) {
    if (vectors[j].cols < Vector<T>::width) {
      narrow_.push_back({vectors[j], copy_width_});
      copy_width_ += static_cast<std::size_t>(Vector<T>::width);
    }
    for (int i = 0, row = 0; i < elements.size(); row += elements[i].cols, ++i) {
      const Mirror kind = mirror(elements, i, vectors, j);
      if (kind != Mirror::earlier) cut_pair(elements[i], row, vectors[j], column, kind == Mirror::itself);
    }
  }
  for (Piece& piece : pieces_) {
    if (piece.vectors == nullptr) piece.vector_stride = static_cast<std::ptrdiff_t>(copy_width_);
  }
}

template <class T>
void Gram<T>::cut_pair(ConstBlockView<T> elements, int row, ConstBlockView<T> vectors, int column,
                       bool upper_half) {
  constexpr int width = Vector<T>::width;
  const bool narrow = vectors.cols < width;
  const int vector_count = Vector<T>::count_for(vectors.cols);
  const int groups = (vector_count + widest - 1) / widest;
  for (int group = 0; group < groups; ++group) {
    const auto [first_vector, end_vector] = part_of(vector_count, group, groups);
    const int wide = static_cast<int>(end_vector - first_vector);
    const int first_column = static_cast<int>(first_vector) * width;
    const int end_column = std::min(static_cast<int>(end_vector) * width, vectors.cols);
    const int heights = (elements.cols + height_for(wide) - 1) / height_for(wide);
    for (int i = 0; i < heights; ++i) {
      const auto [first_row, end_row] = part_of(elements.cols, i, heights);
      if (upper_half && first_row >= end_column) continue;
      const int high = static_cast<int>(end_row - first_row);
      const std::ptrdiff_t last = narrow ? 0 : end_column - width - first_column;
      pieces_.push_back(
          {kernels<T, Kernel>[static_cast<std::size_t>(wide) - 1][static_cast<std::size_t>(high) - 1],
           elements.data + first_row, elements.stride, narrow ? nullptr : vectors.data + first_column,
           vectors.stride, last, narrow ? narrow_.back().copy : 0, sums_, row + static_cast<int>(first_row),
           column + first_column, high, wide});
      sums_ += static_cast<std::size_t>(high * wide * width);
    }
  }
}

template <class T>
void Gram<T>::sum_rows(std::ptrdiff_t begin, std::ptrdiff_t end, std::ptrdiff_t tile, Scratch& scratch,
                       double* sums) const {
  T* partial = scratch.take<T>();
  T* copies = partial + sums_;
  std::fill_n(partial, sums_, T(0));
  std::ptrdiff_t in_precision = 0;
  for (std::ptrdiff_t row = begin; row < end; row += tile) {
    const std::ptrdiff_t rows = std::min(tile, end - row);
    sum_tile(row, rows, tile, copies, partial);
    in_precision += rows;
    if (in_precision >= rows_in_precision || row + rows == end) {
      for (std::size_t i = 0; i < sums_; ++i) sums[i] += static_cast<double>(partial[i]);
      std::fill_n(partial, sums_, T(0));
      in_precision = 0;
    }
  }
}

template <class T>
void Gram<T>::sum_tile(std::ptrdiff_t begin, std::ptrdiff_t rows, std::ptrdiff_t tile, T* copies, T* sums) const {
  copy_narrow(begin, rows, copies);
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const Piece& piece = pieces_[i];
    const T* vectors =
        piece.vectors == nullptr ? copies + piece.copy : piece.vectors + begin * piece.vector_stride;
    piece.kernel(rows, piece.elements + begin * piece.element_stride, piece.element_stride, vectors,
                 piece.vector_stride, piece.last, prefetches_(i, begin + tile), sums + piece.sums);
  }
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
void Gram<T>::unpack(bool swapped, SmallMatrix& result) const {
  constexpr int width = Vector<T>::width;
  const ProductView product(result, swapped);
  for (const Piece& piece : pieces_) {
    const double* sums = thread_sums_.data() + piece.sums;
    const int columns = piece.vectors == nullptr ? narrow_[piece.copy / width].view.cols : width;
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
