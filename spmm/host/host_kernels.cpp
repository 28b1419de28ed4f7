#include <cstring>
#include <vector>

#include "spmm/host/gram.hpp"
#include "spmm/host/host_backend.hpp"
#include "spmm/host/random.hpp"
#include "spmm/host/threads.hpp"

namespace block_eigs::host {

namespace {

/// Calls row(i) for every row, in parallel.
template <class Row>
void for_rows(LocalIndex rows, Row row) {
#pragma omp parallel for schedule(static) num_threads(threads()) if (rows > 256)
  for (LocalIndex i = 0; i < rows; ++i) row(i);
}

template <class View>
auto row_of(const View& x, LocalIndex i) {
  return x.data + static_cast<std::ptrdiff_t>(i) * x.stride;
}

template <class View, class Scalar>
void gather_row(const ViewList<View>& list, LocalIndex row, Scalar* values) {
  for (const View& view : list) {
    const auto* x = row_of(view, row);
    for (LocalIndex j = 0; j < view.cols; ++j) *values++ = x[j];
  }
}

struct Plan final : SpmmPlan {};

template <class T>
class HostKernels final : public Kernels<T> {
 public:
  explicit HostKernels(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  std::unique_ptr<SpmmPlan> analyse(const CsrView<T>&, const CsrView<T>&, const SpmmOptions&) override {
    return std::make_unique<Plan>();
  }

  void spmm(SpmmPlan&, const CsrView<T>& a, ConstBlockView<T> b, BlockView<T> c, Accumulate accumulate,
            const Progress& progress) override {
    if (progress) progress();
    for_rows(a.rows, [&](LocalIndex i) {
      T* out = row_of(c, a.row_map != nullptr ? a.row_map[i] : i);
      if (accumulate == Accumulate::no) std::fill(out, out + c.cols, T(0));
      for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
        const T value = a.values[k];
        const T* in = row_of(b, a.column_indices[k]);
#pragma omp simd
        for (LocalIndex j = 0; j < c.cols; ++j) out[j] += value * in[j];
      }
    });
    if (progress) progress();
  }

  void gather_rows(ConstBlockView<T> x, const LocalIndex* rows, BlockView<T> out, Queue) override {
    for_rows(out.rows, [&](LocalIndex i) {
      std::memcpy(row_of(out, i), row_of(x, rows[i]), static_cast<std::size_t>(out.cols) * sizeof(T));
    });
  }

  void gram(const ConstBlockList<T>& left, const ConstBlockList<T>& right, SmallMatrix& result) override {
    gram_.multiply(left, right, result);
  }

  void update(const ConstBlockList<T>& in, const SmallMatrix& coefficients, const BlockList<T>& out) override {
#pragma omp parallel num_threads(threads())
    {
      std::vector<double> x(static_cast<std::size_t>(in.cols()));
#pragma omp for schedule(static)
      for (LocalIndex i = 0; i < out.rows(); ++i) {
        gather_row(in, i, x.data());
        int column = 0;
        for (const BlockView<T>& view : out) {
          T* y = row_of(view, i);
          for (LocalIndex j = 0; j < view.cols; ++j, ++column) {
            double sum = 0.0;
            for (int k = 0; k < in.cols(); ++k) sum += x[static_cast<std::size_t>(k)] * coefficients(k, column);
            y[j] = static_cast<T>(sum);
          }
        }
      }
    }
  }

  void residual(ConstBlockView<T> ax, ConstBlockView<T> bx, std::span<const double> lambda, BlockView<T> r,
                std::span<double> squared_norms) override {
    std::fill(squared_norms.begin(), squared_norms.end(), 0.0);
    for (LocalIndex i = 0; i < r.rows; ++i) {
      for (LocalIndex j = 0; j < r.cols; ++j) {
        const auto column = static_cast<std::size_t>(j);
        const T value = row_of(ax, i)[j] - row_of(bx, i)[j] * static_cast<T>(lambda[column]);
        row_of(r, i)[j] = value;
        squared_norms[column] += static_cast<double>(value) * static_cast<double>(value);
      }
    }
  }

  void column_dots(ConstBlockView<T> x, ConstBlockView<T> y, std::span<double> dots) override {
    std::fill(dots.begin(), dots.end(), 0.0);
    for (LocalIndex i = 0; i < x.rows; ++i) {
      for (LocalIndex j = 0; j < x.cols; ++j) {
        dots[static_cast<std::size_t>(j)] += static_cast<double>(row_of(x, i)[j]) * static_cast<double>(row_of(y, i)[j]);
      }
    }
  }

  void scale_rows(const T* d, ConstBlockView<T> x, BlockView<T> y) override {
    for_rows(y.rows, [&](LocalIndex i) {
      for (LocalIndex j = 0; j < y.cols; ++j) row_of(y, i)[j] = d[i] * row_of(x, i)[j];
    });
  }

  void axpby(double alpha, ConstBlockView<T> x, double beta, BlockView<T> y) override {
    const T a = static_cast<T>(alpha);
    const T b = static_cast<T>(beta);
    for_rows(y.rows, [&](LocalIndex i) {
      for (LocalIndex j = 0; j < y.cols; ++j) {
        T& value = row_of(y, i)[j];
        value = b == T(0) ? a * row_of(x, i)[j] : a * row_of(x, i)[j] + b * value;
      }
    });
  }

  void chebyshev_step(const ChebyshevStep& step, const T* d, ConstBlockView<T> r, ConstBlockView<T> az,
                      BlockView<T> p, BlockView<T> z) override {
    const T direction = static_cast<T>(step.direction);
    for_rows(z.rows, [&](LocalIndex i) {
      const T factor = static_cast<T>(step.residual) * d[i];
      for (LocalIndex j = 0; j < z.cols; ++j) {
        T& pij = row_of(p, i)[j];
        T& zij = row_of(z, i)[j];
        if (direction == T(0)) {
          zij = pij = factor * row_of(r, i)[j];
        } else {
          pij = direction * pij + factor * (row_of(r, i)[j] - row_of(az, i)[j]);
          zij += pij;
        }
      }
    });
  }

  void copy(ConstBlockView<T> x, BlockView<T> y) override {
    for_rows(y.rows, [&](LocalIndex i) {
      std::memmove(row_of(y, i), row_of(x, i), static_cast<std::size_t>(y.cols) * sizeof(T));
    });
  }

  void fill(BlockView<T> y, double value) override {
    for_rows(y.rows, [&](LocalIndex i) { std::fill_n(row_of(y, i), y.cols, static_cast<T>(value)); });
  }

  void fill_random(BlockView<T> y, std::uint64_t seed, GlobalIndex first_row) override {
    for_rows(y.rows, [&](LocalIndex i) {
      for (LocalIndex j = 0; j < y.cols; ++j) row_of(y, i)[j] = random_element<T>(seed, first_row + i, j);
    });
  }

  void convert(ConstBlockView<T> x, std::span<const double> scales, BlockView<float> y) override {
    convert_to(x, scales, y);
  }
  void convert(ConstBlockView<T> x, std::span<const double> scales, BlockView<double> y) override {
    convert_to(x, scales, y);
  }

 private:
  template <class U>
  void convert_to(ConstBlockView<T> x, std::span<const double> scales, BlockView<U> y) {
    for_rows(y.rows, [&](LocalIndex i) {
      for (LocalIndex j = 0; j < y.cols; ++j) {
        const double scale = scales.empty() ? 1.0 : scales[static_cast<std::size_t>(j)];
        row_of(y, i)[j] = static_cast<U>(scale * static_cast<double>(row_of(x, i)[j]));
      }
    });
  }

  std::shared_ptr<Device> device_;
  Gram<T> gram_;
};

}  // namespace

template <class T>
std::shared_ptr<Kernels<T>> make_kernels(std::shared_ptr<Device> device) {
  return std::make_shared<HostKernels<T>>(std::move(device));
}

template std::shared_ptr<Kernels<float>> make_kernels(std::shared_ptr<Device>);
template std::shared_ptr<Kernels<double>> make_kernels(std::shared_ptr<Device>);

}  // namespace block_eigs::host
