#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "spmm/device/random.hpp"
#include "spmm/host/dense/column_sums.hpp"
#include "spmm/host/dense/gram.hpp"
#include "spmm/host/dense/update.hpp"
#include "spmm/host/runtime/host_backend.hpp"
#include "spmm/host/runtime/threads.hpp"
#include "spmm/host/sparse/product_sums.hpp"
#include "spmm/host/sparse/spmm.hpp"

namespace block_eigs::host {

namespace {

/// Calls row(i) for every row, every thread its own rows in order.
template <class Row>
void for_rows(LocalIndex rows, Row row) {
  const int parts = threads_for(rows);
#pragma omp parallel for schedule(static, 1) num_threads(parts)
  for (int part = 0; part < parts; ++part) {
    const Range own = part_of(rows, part, parts);
    for (std::int64_t i = own.begin; i < own.end; ++i) row(static_cast<LocalIndex>(i));
  }
}

/// Calls element(i, j) for every element, in parallel and in vectors: what it writes must depend on nothing else
/// that it writes.
template <class Element>
void for_elements(LocalIndex rows, LocalIndex cols, Element element) {
  for_rows(rows, [&](LocalIndex i) {
#pragma omp simd
    for (LocalIndex j = 0; j < cols; ++j) element(i, j);
  });
}

template <class View>
auto row_of(const View& x, LocalIndex i) {
  return x.data + static_cast<std::ptrdiff_t>(i) * x.stride;
}

/// Row i of y = d_i times that of x.
template <class T>
void scale_row(const T* d, ConstBlockView<T> x, BlockView<T> y, LocalIndex i) {
  const T factor = d[i];
  const T* from = row_of(x, i);
  T* to = row_of(y, i);
#pragma omp simd
  for (LocalIndex j = 0; j < y.cols; ++j) to[j] = factor * from[j];
}

/// Calls tile(thread, begin, rows) for tiles of rows that stay in the nearest cache, every thread its own in
/// order.
template <class Tile>
void for_tiles(LocalIndex rows, Tile tile) {
  constexpr std::int64_t most = 64;
  static_assert(most <= ColumnSums<double>::rows_in_precision);
  const int parts = threads_for(rows);
#pragma omp parallel for schedule(static, 1) num_threads(parts)
  for (int part = 0; part < parts; ++part) {
    const Range own = part_of(rows, part, parts);
    for (std::int64_t row = own.begin; row < own.end; row += most) {
      tile(part, static_cast<LocalIndex>(row), static_cast<LocalIndex>(std::min(most, own.end - row)));
    }
  }
}

/// What a step adds up, but for the share of x that differs from column to column: the terms that are there.
template <class T>
struct Terms {
  Terms(const ProductStep<T>& step, ConstBlockView<T> ax, ConstBlockView<T> x, ConstBlockView<T> y) {
    add(step.alpha, ax, true);
    add(step.right_hand_side, step.r, true);
    add(step.beta, x, false);
    add(step.gamma, y, false);
  }

  std::array<ConstBlockView<T>, 4> blocks{};
  std::array<T, 4> factors{};
  std::array<bool, 4> scaled{};  ///< by the factor of the row
  int count = 0;

 private:
  void add(double factor, ConstBlockView<T> block, bool with_scale) {
    if (factor == 0.0) return;
    const auto place = static_cast<std::size_t>(count++);
    blocks[place] = block;
    factors[place] = static_cast<T>(factor);
    scaled[place] = with_scale;
  }
};

template <class T>
class HostKernels final : public Kernels<T> {
 public:
  explicit HostKernels(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  std::unique_ptr<SpmmPlan> analyse(const CsrView<T>& a, const SpmmOptions& options) override {
    return make_spmm_plan(a, options.algorithm);
  }

  void spmm(SpmmPlan& plan, const CsrView<T>& a, ConstBlockView<T> b, BlockView<T> c, const ProductStep<T>& step,
            const Progress& progress) override {
    if (step.products == nullptr) return multiply(static_cast<HostSpmmPlan&>(plan), a, b, c, step, progress);
    product_sums_.begin(a, c, step);
    multiply(static_cast<HostSpmmPlan&>(plan), a, b, c, step, progress, &product_sums_);
    product_sums_.finish(*step.products);
  }

  bool sums_products() const override { return true; }

  void gather_rows(ConstBlockView<T> x, const LocalIndex* rows, BlockView<T> out, Queue) override {
    // A call takes longer than one number does.
    if (out.cols == 1) return for_rows(out.rows, [&](LocalIndex i) { *row_of(out, i) = *row_of(x, rows[i]); });
    for_rows(out.rows, [&](LocalIndex i) {
      std::memcpy(row_of(out, i), row_of(x, rows[i]), static_cast<std::size_t>(out.cols) * sizeof(T));
    });
  }

  void gram(const ConstBlockList<T>& left, const ConstBlockList<T>& right, SmallMatrix& result) override {
    gram_.multiply(left, right, result);
  }

  void update(const ConstBlockList<T>& in, const SmallMatrix& coefficients, const BlockList<T>& out) override {
    update_.multiply(in, coefficients, out);
  }

  void residual(ConstBlockView<T> ax, ConstBlockView<T> bx, std::span<const double> lambda, BlockView<T> r,
                std::span<double> squared_norms) override {
    sums_.start(r.cols, threads(), lambda);
    for_tiles(r.rows, [&](int thread, LocalIndex begin, LocalIndex rows) {
      sums_.residual(thread, ax.row_range(begin, rows), bx.row_range(begin, rows), r.row_range(begin, rows));
    });
    sums_.finish(squared_norms);
  }

  void update_residual(const ConstBlockList<T>& in, const SmallMatrix& coefficients, const BlockList<T>& out,
                       ConstBlockView<T> bx, std::span<const double> lambda, BlockView<T> r,
                       std::span<double> squared_norms) override {
    const FusedResidual<T> residual{bx, lambda, r, squared_norms};
    update_.multiply(in, coefficients, out, &residual);
  }

  void update_gram(const ConstBlockList<T>& in, const SmallMatrix& coefficients, const BlockList<T>& out,
                   const RowScaling<T>& scaling, const ConstBlockList<T>& left, const ConstBlockList<T>& right,
                   SmallMatrix& result) override {
    gram_.begin(left, right, Update<T>::most_rows);
    update_.multiply(in, coefficients, out, nullptr, [&](int part, std::ptrdiff_t begin, std::ptrdiff_t end) {
      for (std::ptrdiff_t i = begin; scaling.d != nullptr && i < end; ++i) {
        scale_row(scaling.d, scaling.x, scaling.y, static_cast<LocalIndex>(i));
      }
      gram_.add(part, begin, end);
    });
    gram_.finish(result);
  }

  void column_dots(ConstBlockView<T> x, ConstBlockView<T> y, std::span<double> dots) override {
    sums_.start(x.cols, threads());
    for_tiles(x.rows, [&](int thread, LocalIndex begin, LocalIndex rows) {
      sums_.dot(thread, x.row_range(begin, rows), y.row_range(begin, rows));
    });
    sums_.finish(dots);
  }

  void scale_rows(const T* d, ConstBlockView<T> x, BlockView<T> y) override {
    for_rows(y.rows, [=](LocalIndex i) { scale_row(d, x, y, i); });
  }

  void axpby(double alpha, ConstBlockView<T> x, double beta, BlockView<T> y) override {
    const T a = static_cast<T>(alpha);
    const T b = static_cast<T>(beta);
    if (b == T(0)) {
      for_elements(y.rows, y.cols, [=](LocalIndex i, LocalIndex j) { row_of(y, i)[j] = a * row_of(x, i)[j]; });
    } else {
      for_elements(y.rows, y.cols, [=](LocalIndex i, LocalIndex j) {
        row_of(y, i)[j] = a * row_of(x, i)[j] + b * row_of(y, i)[j];
      });
    }
  }

  void combine(const ProductStep<T>& step, ConstBlockView<T> ax, ConstBlockView<T> x, BlockView<T> y) override {
    const Terms<T> terms(step, ax, x, y);
    switch (terms.count) {
      case 0:
        return combine_terms<0>(step, terms, x, y);
      case 1:
        return combine_terms<1>(step, terms, x, y);
      case 2:
        return combine_terms<2>(step, terms, x, y);
      case 3:
        return combine_terms<3>(step, terms, x, y);
      default:
        return combine_terms<4>(step, terms, x, y);
    }
  }

  void copy(ConstBlockView<T> x, BlockView<T> y) override {
    if (y.cols == 1) return for_rows(y.rows, [&](LocalIndex i) { *row_of(y, i) = *row_of(x, i); });
    for_rows(y.rows, [&](LocalIndex i) {
      std::memmove(row_of(y, i), row_of(x, i), static_cast<std::size_t>(y.cols) * sizeof(T));
    });
  }

  void fill(BlockView<T> y, double value) override {
    for_rows(y.rows, [&](LocalIndex i) { std::fill_n(row_of(y, i), y.cols, static_cast<T>(value)); });
  }

  void from_columns(const T* columns, std::int64_t leading, BlockView<T> y) override {
    for_tiles(y.rows, [=](int, LocalIndex begin, LocalIndex rows) {
      for (LocalIndex j = 0; j < y.cols; ++j) {
        const T* column = columns + j * leading;
        for (LocalIndex i = begin; i < begin + rows; ++i) row_of(y, i)[j] = column[i];
      }
    });
  }

  void to_columns(ConstBlockView<T> x, T* columns, std::int64_t leading) override {
    for_tiles(x.rows, [=](int, LocalIndex begin, LocalIndex rows) {
      for (LocalIndex j = 0; j < x.cols; ++j) {
        T* column = columns + j * leading;
        for (LocalIndex i = begin; i < begin + rows; ++i) column[i] = row_of(x, i)[j];
      }
    });
  }

  void fill_random(BlockView<T> y, std::uint64_t seed, GlobalIndex first_row) override {
    for_elements(y.rows, y.cols,
                 [=](LocalIndex i, LocalIndex j) { row_of(y, i)[j] = random_element<T>(seed, first_row + i, j); });
  }

  void convert(ConstBlockView<T> x, std::span<const double> scales, BlockView<float> y) override {
    convert_to(x, scales, y);
  }
  void convert(ConstBlockView<T> x, std::span<const double> scales, BlockView<double> y) override {
    convert_to(x, scales, y);
  }

 private:
  template <int Count>
  void combine_terms(const ProductStep<T>& step, const Terms<T>& terms, ConstBlockView<T> x, BlockView<T> y) {
    const std::vector<T> betas(step.betas.begin(), step.betas.end());  // of columns, in the arithmetic of T
    for_rows(y.rows, [&](LocalIndex i) {
      const T scale = step.scale == nullptr ? T(1) : step.scale[i];
      std::array<T, Count> factors;
      std::array<const T*, Count> rows;
      for (int t = 0; t < Count; ++t) {
        factors[t] = terms.scaled[t] ? scale * terms.factors[t] : terms.factors[t];
        rows[t] = row_of(terms.blocks[t], i);
      }
      T* const to = row_of(y, i);
      const auto sum = [&](LocalIndex j) {
        T value = 0;
        for (int t = 0; t < Count; ++t) value += factors[t] * rows[t][j];
        return value;
      };
      if (betas.empty() && y.cols == 1) {
        to[0] = sum(0);  // without the way round the vectors of many
      } else if (betas.empty()) {
#pragma omp simd
        for (LocalIndex j = 0; j < y.cols; ++j) to[j] = sum(j);
      } else {
        const T* const from = row_of(x, i);
#pragma omp simd
        for (LocalIndex j = 0; j < y.cols; ++j) to[j] = sum(j) + betas[static_cast<std::size_t>(j)] * from[j];
      }
    });
  }

  template <class U>
  void convert_to(ConstBlockView<T> x, std::span<const double> scales, BlockView<U> y) {
    if (scales.empty()) {
      for_elements(y.rows, y.cols,
                   [=](LocalIndex i, LocalIndex j) { row_of(y, i)[j] = static_cast<U>(row_of(x, i)[j]); });
    } else {
      for_elements(y.rows, y.cols, [=](LocalIndex i, LocalIndex j) {
        const double scale = scales[static_cast<std::size_t>(j)];
        row_of(y, i)[j] = static_cast<U>(scale * static_cast<double>(row_of(x, i)[j]));
      });
    }
  }

  std::shared_ptr<Device> device_;
  Gram<T> gram_;
  ProductSums<T> product_sums_;
  Update<T> update_;
  ColumnSums<T> sums_;
};

}  // namespace

template <class T>
std::shared_ptr<Kernels<T>> make_kernels(std::shared_ptr<Device> device) {
  return std::make_shared<HostKernels<T>>(std::move(device));
}

template std::shared_ptr<Kernels<float>> make_kernels(std::shared_ptr<Device>);
template std::shared_ptr<Kernels<double>> make_kernels(std::shared_ptr<Device>);

}  // namespace block_eigs::host
