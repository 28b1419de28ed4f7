#include "spmm/host/dense/column_sums.hpp"

#include <algorithm>
#include <type_traits>

#include "spmm/host/dense/vector.hpp"
#include "spmm/host/runtime/threads.hpp"

namespace block_eigs::host {

namespace {

constexpr int widest = 6;

/// `Vectors` vectors of a row. Fewer columns than a vector holds come with Vectors = 1 and Narrow.
template <class T, int Vectors, bool Narrow>
struct RowVectors {
  Vector<T> x[Vectors];

  [[gnu::always_inline]] void load(const T* from, int last, int cols) {
    if constexpr (Narrow) {
      x[0].load_first(from, cols);
    } else {
      unroll<Vectors>([&](auto v) { x[v].load(from + (v == Vectors - 1 ? last : v * Vector<T>::width)); });
    }
  }
  [[gnu::always_inline]] void store(T* to, int last, int cols) const {
    if constexpr (Narrow) {
      x[0].store_first(to, cols);
    } else {
      unroll<Vectors>([&](auto v) { x[v].store(to + (v == Vectors - 1 ? last : v * Vector<T>::width)); });
    }
  }
  [[gnu::always_inline]] void add_products(const RowVectors& a, const RowVectors& b) {
    unroll<Vectors>([&](auto v) { x[v].lanes += a.x[v].lanes * b.x[v].lanes; });
  }
  /// this -= a b
  [[gnu::always_inline]] void subtract_products(const RowVectors& a, const RowVectors& b) {
    unroll<Vectors>([&](auto v) { x[v].lanes -= a.x[v].lanes * b.x[v].lanes; });
  }
  void add_to(double* sums) const {
    unroll<Vectors>([&](auto v) {
      for (int i = 0; i < Vector<T>::width; ++i)
        sums[v * Vector<T>::width + i] += static_cast<double>(x[v].lanes[i]);
    });
  }
};

/// Calls work(row_vectors<Vectors, Narrow>, group, its sums) for every group, the counts being compile-time
/// constants.
template <class T, class Groups, class Work>
void for_groups(const Groups& groups, LocalIndex cols, double* sums, const Work& work) {
  for (const auto& group : groups) {
    if (cols < Vector<T>::width) {
      work(std::type_identity<RowVectors<T, 1, true>>{}, group, sums);
    } else {
      with_constant<widest>(group.vectors, [&](auto vectors) {
        work(std::type_identity<RowVectors<T, vectors, false>>{}, group, sums);
      });
    }
    sums += group.vectors * Vector<T>::width;
  }
}

}  // namespace

template <class T>
void ColumnSums<T>::start(LocalIndex cols, int threads, std::span<const double> factors) {
  constexpr int width = Vector<T>::width;
  cols_ = cols;
  groups_.clear();
  const int vectors = Vector<T>::count_for(cols);
  const int groups = (vectors + widest - 1) / widest;
  for (int group = 0; group < groups; ++group) {
    const auto [begin, end] = part_of(vectors, group, groups);
    const int first = static_cast<int>(begin) * width;
    const int last = std::min(static_cast<int>(end) * width, cols) - width - first;
    groups_.push_back({first, static_cast<int>(end - begin), last});
  }
  stride_ = static_cast<std::size_t>(vectors) * width;
  factors_.resize(factors.size());
  std::transform(factors.begin(), factors.end(), factors_.begin(), [](double x) { return static_cast<T>(x); });
  sums_.assign(static_cast<std::size_t>(threads) * stride_, 0.0);
}

template <class T>
void ColumnSums<T>::residual(int thread, ConstBlockView<T> ax, ConstBlockView<T> bx, BlockView<T> r) {
  for_groups<T>(groups_, cols_, sums_of(thread), [&](auto type, const Group& group, double* sums) {
    using Row = typename decltype(type)::type;
    Row factors;
    factors.load(factors_.data() + group.first, group.last, cols_);
    Row squares;
    for (std::ptrdiff_t i = 0; i < r.rows; ++i) {
      Row x;
      Row y;
      x.load(ax.data + i * ax.stride + group.first, group.last, cols_);
      y.load(bx.data + i * bx.stride + group.first, group.last, cols_);
      x.subtract_products(y, factors);
      x.store(r.data + i * r.stride + group.first, group.last, cols_);
      squares.add_products(x, x);
    }
    squares.add_to(sums);
  });
}

template <class T>
void ColumnSums<T>::dot(int thread, ConstBlockView<T> x, ConstBlockView<T> y) {
  for_groups<T>(groups_, cols_, sums_of(thread), [&](auto type, const Group& group, double* sums) {
    using Row = typename decltype(type)::type;
    Row products;
    for (std::ptrdiff_t i = 0; i < x.rows; ++i) {
      Row a;
      Row b;
      a.load(x.data + i * x.stride + group.first, group.last, cols_);
      b.load(y.data + i * y.stride + group.first, group.last, cols_);
      products.add_products(a, b);
    }
    products.add_to(sums);
  });
}

template <class T>
void ColumnSums<T>::finish(std::span<double> sums) const {
  constexpr int width = Vector<T>::width;
  std::size_t position = 0;
  for (const Group& group : groups_) {
    for (int i = 0; i < group.vectors * width; ++i, ++position) {
      const int vector = i / width;
      const bool narrow = cols_ < width;
      const int column =
          group.first + i % width + (vector == group.vectors - 1 && !narrow ? group.last : vector * width);
      if (column >= cols_) continue;
      double& sum = sums[static_cast<std::size_t>(column)];
      sum = 0.0;
      for (std::size_t at = position; at < sums_.size(); at += stride_) sum += sums_[at];
    }
  }
}

template class ColumnSums<float>;
template class ColumnSums<double>;

}  // namespace block_eigs::host
