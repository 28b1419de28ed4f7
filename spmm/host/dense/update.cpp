#include "spmm/host/dense/update.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "spmm/host/dense/mirror.hpp"
#include "spmm/host/dense/vector.hpp"
#include "spmm/host/runtime/threads.hpp"
#include "spmm/overlap.hpp"

namespace block_eigs::host {

namespace {

constexpr std::ptrdiff_t tile_bytes = 40'960;
constexpr std::ptrdiff_t rows_unit = 24;  // a multiple of all heights
constexpr std::ptrdiff_t most_units = Update<double>::most_rows / rows_unit;
constexpr int widest = 3;
constexpr int highest = 8;

/// out(h, v) = sum over k of [in](row + h, k) times the k-th of the packed coefficients' vectors v, but for inputs
/// that add nothing or themselves.
template <class T, int Bytes, int Height, int Vectors>
void multiply_rows(const ConstBlockList<T>& in, std::ptrdiff_t row, const Terms& terms, const T* coefficients,
                   T* out, std::ptrdiff_t out_stride, Prefetch prefetch) {
  using Vector = Vector<T, Bytes>;
  constexpr int width = Vector::width;
  Vector sum[Height * Vectors];
  for (int input = 0; input < in.size(); ++input) {
    const ConstBlockView<T>& view = in[input];
    const Term term = terms[static_cast<std::size_t>(input)];
    const std::ptrdiff_t stride = view.stride;
    const T* x = view.data + row * stride;
    if (term.kind == Term::Kind::itself) {
      unroll<Height * Vectors>([&](auto i) {
        Vector one;
        one.load(x + (i / Vectors) * stride + term.column + (i % Vectors) * width);
        sum[i].lanes += one.lanes;
      });
    }
    if (term.kind != Term::Kind::product) continue;
    for (int k = 0; k < view.cols; ++k, ++x, coefficients += Vectors * width) {
      prefetch.advance();
      Vector c[Vectors];
      unroll<Vectors>([&](auto v) { c[v].load_once(coefficients + v * width); });
      unroll<Height * Vectors>([&](auto i) { sum[i].add_product(x[(i / Vectors) * stride], c[i % Vectors]); });
    }
  }
  unroll<Height * Vectors>(
      [&](auto i) { sum[i].store(out + (i / Vectors) * out_stride + (i % Vectors) * width); });
}

template <class T, class Kernel, int Bytes, int Vectors, int... Less>
constexpr std::array<Kernel, highest> kernels_of_width(std::integer_sequence<int, Less...>) {
  constexpr int most = height_for(Vectors, Bytes);
  return {(Less < most ? multiply_rows<T, Bytes, std::min(Less + 1, most), Vectors> : nullptr)...};
}

/// kernels[vectors - 1][height - 1]
template <class T, class Kernel, int Bytes>
constexpr std::array<std::array<Kernel, highest>, widest> kernels = {
    kernels_of_width<T, Kernel, Bytes, 1>(std::make_integer_sequence<int, highest>{}),
    kernels_of_width<T, Kernel, Bytes, 2>(std::make_integer_sequence<int, highest>{}),
    kernels_of_width<T, Kernel, Bytes, 3>(std::make_integer_sequence<int, highest>{})};

template <class T>
void copy_row(const T* from, int cols, T* to) {
  constexpr int width = Vector<T>::width;
  Vector<T> x;
  if (cols < width) {
    for (int j = 0; j < cols; ++j) to[j] = from[j];
    return;
  }
  for (int j = 0; j + width <= cols; j += width) {
    x.load(from + j);
    x.store(to + j);
  }
  x.load(from + cols - width);  // may overlap the one before
  x.store(to + cols - width);
}

/// Rows begin .. of outputs from `product`, where they stand side by side.
template <class T, class Copied>
void copy_out(const T* product, std::ptrdiff_t product_stride, std::ptrdiff_t begin, std::ptrdiff_t rows,
              const BlockList<T>& out, const Copied& copied) {
  for (int output = 0; output < out.size(); product += out[output].cols, ++output) {
    if (!copied[static_cast<std::size_t>(output)]) continue;
    const BlockView<T>& view = out[output];
    T* to = view.data + begin * view.stride;
    for (std::ptrdiff_t i = 0; i < rows; ++i)
      copy_row(product + i * product_stride, view.cols, to + i * view.stride);
  }
}

/// What the rows [row, row + rows) of the coefficients amount to in so many columns. An input is added as it is in
/// whole vectors only.
Term simplest_term(const SmallMatrix& coefficients, int row, int rows, int column, int columns,
                   bool whole_vectors) {
  int nonzeros = 0;
  int shift = 0;
  bool itself = whole_vectors;
  for (int j = 0; j < columns; ++j) {
    for (int k = 0; k < rows; ++k) {
      const double value = coefficients(row + k, column + j);
      if (value == 0.0) continue;
      if (nonzeros++ == 0) shift = k - j;
      itself = itself && value == 1.0 && k - j == shift;
    }
  }
  if (nonzeros == 0) return {Term::Kind::nothing, 0};
  return itself && nonzeros == columns ? Term{Term::Kind::itself, shift} : Term{};
}

/// Columns of the inputs that take part in products.
template <class T>
std::ptrdiff_t multiplied_columns(const ConstBlockList<T>& in, const Terms& terms) {
  std::ptrdiff_t columns = 0;
  for (int i = 0; i < in.size(); ++i) {
    if (terms[static_cast<std::size_t>(i)].kind == Term::Kind::product) columns += in[i].cols;
  }
  return columns;
}

}  // namespace

template <class T>
void Update<T>::multiply(const ConstBlockList<T>& in, const SmallMatrix& coefficients, const BlockList<T>& out,
                         const FusedResidual<T>* residual, const AfterTile& then) {
  pack(in, coefficients, out);
  copied_.fill(true);
  if (residual == nullptr) find_direct(in, out);
  const int parts = threads_for(out.rows());
  if (residual != nullptr) norms_.start(residual->r.cols, parts, residual->lambda);
  scratch_.resize(static_cast<std::size_t>(parts));
  const std::ptrdiff_t row_bytes = (in.cols() + product_stride_) * static_cast<std::ptrdiff_t>(sizeof(T));
  const std::ptrdiff_t tile =
      std::clamp<std::ptrdiff_t>(tile_bytes / row_bytes / rows_unit, 1, most_units) * rows_unit;
  for (Scratch& scratch : scratch_) scratch.reserve<T>(static_cast<std::size_t>(tile * product_stride_));
  plan_prefetches(in, out, residual, tile);
#pragma omp parallel for schedule(static, 1) num_threads(parts)
  for (int part = 0; part < parts; ++part) {
    T* product = scratch_[static_cast<std::size_t>(part)].template take<T>();
    const Range own = part_of(out.rows(), part, parts);
    for (std::ptrdiff_t row = own.begin; row < own.end; row += tile) {
      const std::ptrdiff_t rows = std::min<std::ptrdiff_t>(tile, own.end - row);
      multiply_tile(in, row, rows, tile, product);
      copy_out(product, product_stride_, row, rows, out, copied_);
      if (then) then(part, row, row + rows);
      if (residual == nullptr) continue;
      const auto first = static_cast<LocalIndex>(row);
      const BlockView<T> r = residual->r.row_range(first, static_cast<LocalIndex>(rows));
      norms_.residual(part, {product, r.rows, r.cols, static_cast<LocalIndex>(product_stride_)},
                      residual->bx.row_range(first, r.rows), r);
    }
  }
  if (residual != nullptr) norms_.finish(residual->squared_norms);
}

template <class T>
void Update<T>::pack(const ConstBlockList<T>& in, const SmallMatrix& coefficients, const BlockList<T>& out) {
  constexpr int width = Vector<T>::width;
  groups_.clear();
  packed_.clear();
  const int all = Vector<T>::count_for(coefficients.cols());
  product_stride_ = static_cast<std::ptrdiff_t>(all) * width;
  // Groups end where an output ends, if vectors do so too: within one output coefficients may be simple.
  int begin = 0;
  int columns = 0;
  for (const BlockView<T>& view : out) {
    columns += view.cols;
    const bool last = columns == coefficients.cols();
    if (columns % width != 0 && !last) continue;
    const int vectors = (last ? all : columns / width) - begin;
    pack_run(in, coefficients, begin * width, vectors);
    begin += vectors;
  }
}

/// Of `vectors` vectors of columns side by side: as wide ones, and what these leave.
template <class T>
void Update<T>::pack_run(const ConstBlockList<T>& in, const SmallMatrix& coefficients, int first_column,
                         int vectors) {
  constexpr int narrow_bytes = Vector<T>::width * static_cast<int>(sizeof(T));
  constexpr int wider = wide_bytes / narrow_bytes;
  const auto pack_as = [&](int count, int bytes) {
    const int width = bytes / static_cast<int>(sizeof(T));
    const int groups = (count + widest - 1) / widest;
    for (int group = 0; group < groups; ++group) {
      const Range own = part_of(count, group, groups);
      const int of_group = static_cast<int>(own.end - own.begin);
      pack_group(in, coefficients, {first_column, of_group, bytes});
      first_column += of_group * width;
    }
  };
  pack_as(vectors / wider, wide_bytes);
  pack_as(vectors % wider, narrow_bytes);
}

template <class T>
void Update<T>::pack_group(const ConstBlockList<T>& in, const SmallMatrix& coefficients, Group group) {
  const int first_column = group.first_column;
  const int width = group.vectors * group.vector_bytes / static_cast<int>(sizeof(T));
  const int columns = std::min(width, coefficients.cols() - first_column);
  group.coefficients = packed_.size();
  int row = 0;
  for (int i = 0; i < in.size(); row += in[i].cols, ++i) {
    Term& term = group.terms[static_cast<std::size_t>(i)];
    term = simplest_term(coefficients, row, in[i].cols, first_column, columns, columns == width);
    if (term.kind != Term::Kind::product) continue;
    for (int k = row; k < row + in[i].cols; ++k) {
      for (int j = 0; j < width; ++j) {
        packed_.push_back(j < columns ? static_cast<T>(coefficients(k, first_column + j)) : T(0));
      }
    }
  }
  groups_.push_back(group);
}

/// Groups that make all columns of an output. Every call of a kernel reads its rows before it writes them.
template <class T>
void Update<T>::find_direct(const ConstBlockList<T>& in, const BlockList<T>& out) {
  std::size_t group = 0;
  int first_column = 0;
  for (int output = 0; output < out.size(); first_column += out[output].cols, ++output) {
    while (group < groups_.size() && groups_[group].first_column < first_column) ++group;
    if (group == groups_.size()) return;
    Group& whole = groups_[group];
    const int columns = whole.vectors * whole.vector_bytes / static_cast<int>(sizeof(T));
    if (whole.first_column != first_column || columns != out[output].cols) continue;
    if (reads(group + 1, in, out[output])) continue;
    whole.direct = out[output];
    copied_[static_cast<std::size_t>(output)] = false;
  }
}

/// Whether groups from `first_group` on read inputs in that memory.
template <class T>
bool Update<T>::reads(std::size_t first_group, const ConstBlockList<T>& in, ConstBlockView<T> memory) const {
  for (std::size_t group = first_group; group < groups_.size(); ++group) {
    for (int i = 0; i < in.size(); ++i) {
      if (groups_[group].terms[static_cast<std::size_t>(i)].kind == Term::Kind::nothing) continue;
      if (overlap<T>(in[i], memory)) return true;
    }
  }
  return false;
}

template <class T>
void Update<T>::plan_prefetches(const ConstBlockList<T>& in, const BlockList<T>& out,
                                const FusedResidual<T>* residual, std::ptrdiff_t tile) {
  prefetches_.clear();
  for (const ConstBlockView<T>& view : in) prefetches_.add(view);
  for (const BlockView<T>& view : out) prefetches_.add(view);
  if (residual != nullptr) {
    prefetches_.add(residual->bx);
    prefetches_.add(residual->r);
  }
  std::ptrdiff_t calls = 0;
  std::ptrdiff_t steps = in.cols();
  for (const Group& group : groups_) steps = std::min(steps, multiplied_columns(in, group.terms));
  for (const Group& group : groups_) {
    const std::ptrdiff_t height = height_for(group.vectors, group.vector_bytes);
    calls += (tile + height - 1) / height;
  }
  prefetches_.deal(tile, calls, std::max<std::ptrdiff_t>(steps, 1));
}

template <class T>
void Update<T>::multiply_tile(const ConstBlockList<T>& in, std::ptrdiff_t begin, std::ptrdiff_t rows,
                              std::ptrdiff_t tile, T* product) const {
  std::size_t call = 0;
  for (const Group& group : groups_) {
    const auto vectors = static_cast<std::size_t>(group.vectors) - 1;
    const auto& of_width = group.vector_bytes == wide_bytes ? kernels<T, Kernel, wide_bytes>[vectors]
                                                            : kernels<T, Kernel, 32>[vectors];
    const std::ptrdiff_t height = height_for(group.vectors, group.vector_bytes);
    const bool direct = group.direct.data != nullptr;
    T* const to = direct ? group.direct.data + begin * group.direct.stride : product + group.first_column;
    const std::ptrdiff_t stride = direct ? group.direct.stride : product_stride_;
    for (std::ptrdiff_t i = 0; i < rows; i += height, ++call) {
      const auto high = static_cast<std::size_t>(std::min(height, rows - i));
      of_width[high - 1](in, begin + i, group.terms, packed_.data() + group.coefficients, to + i * stride, stride,
                         prefetches_(call, begin + tile));
    }
  }
}

template class Update<float>;
template class Update<double>;

}  // namespace block_eigs::host
