#include "spmm/cuda/dense/elementwise.hpp"

#include "spmm/cuda/dense/row_tiles.cuh"
#include "spmm/device/random.hpp"

namespace block_eigs::cuda {

namespace {

template <class T>
struct GatherRows {
  ConstBlockView<T> x;
  const LocalIndex* rows;
  BlockView<T> out;
  __device__ T load(LocalIndex i, LocalIndex j) const { return element(x, rows[i], j); }
  __device__ void store(LocalIndex i, LocalIndex j, T value) const { element(out, i, j) = value; }
};

template <class T>
struct ScaleRows {
  const T* d;
  ConstBlockView<T> x;
  BlockView<T> y;
  __device__ T load(LocalIndex i, LocalIndex j) const { return d[i] * element(x, i, j); }
  __device__ void store(LocalIndex i, LocalIndex j, T value) const { element(y, i, j) = value; }
};

template <class T>
struct Axpby {
  T alpha, beta;
  ConstBlockView<T> x;
  BlockView<T> y;
  __device__ T load(LocalIndex i, LocalIndex j) const {
    const T scaled = alpha * element(x, i, j);
    return beta == T(0) ? scaled : scaled + beta * element(y, i, j);
  }
  __device__ void store(LocalIndex i, LocalIndex j, T value) const { element(y, i, j) = value; }
};

template <class T>
struct Combine {
  T alpha, right_hand_side, beta, gamma;
  const double* betas;  ///< those of the step in device memory; null for none
  const T* d;
  ConstBlockView<T> r, ax, x;
  BlockView<T> y;
  __device__ T load(LocalIndex i, LocalIndex j) const {
    T value = 0;
    if (alpha != T(0)) value += alpha * element(ax, i, j);
    if (right_hand_side != T(0)) value += right_hand_side * element(r, i, j);
    if (d != nullptr) value *= d[i];
    if (beta != T(0)) value += beta * element(x, i, j);
    if (betas != nullptr) value += static_cast<T>(betas[j]) * element(x, i, j);
    if (gamma != T(0)) value += gamma * element(y, i, j);
    return value;
  }
  __device__ void store(LocalIndex i, LocalIndex j, T value) const { element(y, i, j) = value; }
};

template <class T>
struct Fill {
  T value;
  BlockView<T> y;
  __device__ T load(LocalIndex, LocalIndex) const { return value; }
  __device__ void store(LocalIndex i, LocalIndex j, T v) const { element(y, i, j) = v; }
};

template <class T>
struct FillRandom {
  std::uint64_t seed;
  GlobalIndex first_row;
  BlockView<T> y;
  __device__ T load(LocalIndex i, LocalIndex j) const { return random_element<T>(seed, first_row + i, j); }
  __device__ void store(LocalIndex i, LocalIndex j, T value) const { element(y, i, j) = value; }
};

template <class From, class To>
struct Convert {
  ConstBlockView<From> x;
  const double* scales;
  BlockView<To> y;
  __device__ To load(LocalIndex i, LocalIndex j) const {
    const From value = element(x, i, j);
    return scales == nullptr ? static_cast<To>(value) : static_cast<To>(scales[j] * static_cast<double>(value));
  }
  __device__ void store(LocalIndex i, LocalIndex j, To value) const { element(y, i, j) = value; }
};

}  // namespace

template <class T>
void gather_rows(cudaStream_t stream, ConstBlockView<T> x, const LocalIndex* rows, BlockView<T> out) {
  for_each_element(stream, out.rows, out.cols, GatherRows<T>{x, rows, out}, "gather_rows");
}

template <class T>
void scale_rows(cudaStream_t stream, const T* d, ConstBlockView<T> x, BlockView<T> y) {
  for_each_element(stream, y.rows, y.cols, ScaleRows<T>{d, x, y}, "scale_rows");
}

template <class T>
void axpby(cudaStream_t stream, double alpha, ConstBlockView<T> x, double beta, BlockView<T> y) {
  for_each_element(stream, y.rows, y.cols, Axpby<T>{static_cast<T>(alpha), static_cast<T>(beta), x, y}, "axpby");
}

template <class T>
void combine(cudaStream_t stream, const ProductStep<T>& step, const double* betas, ConstBlockView<T> ax,
             ConstBlockView<T> x, BlockView<T> y) {
  const Combine<T> operation{static_cast<T>(step.alpha),
                             static_cast<T>(step.right_hand_side),
                             static_cast<T>(step.beta),
                             static_cast<T>(step.gamma),
                             betas,
                             step.scale,
                             step.r,
                             ax,
                             x,
                             y};
  for_each_element(stream, y.rows, y.cols, operation, "combine");
}

template <class T>
void fill(cudaStream_t stream, BlockView<T> y, double value) {
  for_each_element(stream, y.rows, y.cols, Fill<T>{static_cast<T>(value), y}, "fill");
}

template <class T>
void fill_random(cudaStream_t stream, BlockView<T> y, std::uint64_t seed, GlobalIndex first_row) {
  for_each_element(stream, y.rows, y.cols, FillRandom<T>{seed, first_row, y}, "fill_random");
}

template <class From, class To>
void convert(cudaStream_t stream, ConstBlockView<From> x, const double* scales, BlockView<To> y) {
  for_each_element(stream, y.rows, y.cols, Convert<From, To>{x, scales, y}, "convert");
}

template void gather_rows(cudaStream_t, ConstBlockView<float>, const LocalIndex*, BlockView<float>);
template void gather_rows(cudaStream_t, ConstBlockView<double>, const LocalIndex*, BlockView<double>);
template void scale_rows(cudaStream_t, const float*, ConstBlockView<float>, BlockView<float>);
template void scale_rows(cudaStream_t, const double*, ConstBlockView<double>, BlockView<double>);
template void axpby(cudaStream_t, double, ConstBlockView<float>, double, BlockView<float>);
template void axpby(cudaStream_t, double, ConstBlockView<double>, double, BlockView<double>);
template void combine(cudaStream_t, const ProductStep<float>&, const double*, ConstBlockView<float>,
                      ConstBlockView<float>, BlockView<float>);
template void combine(cudaStream_t, const ProductStep<double>&, const double*, ConstBlockView<double>,
                      ConstBlockView<double>, BlockView<double>);
template void fill(cudaStream_t, BlockView<float>, double);
template void fill(cudaStream_t, BlockView<double>, double);
template void fill_random(cudaStream_t, BlockView<float>, std::uint64_t, GlobalIndex);
template void fill_random(cudaStream_t, BlockView<double>, std::uint64_t, GlobalIndex);
template void convert(cudaStream_t, ConstBlockView<float>, const double*, BlockView<float>);
template void convert(cudaStream_t, ConstBlockView<float>, const double*, BlockView<double>);
template void convert(cudaStream_t, ConstBlockView<double>, const double*, BlockView<float>);
template void convert(cudaStream_t, ConstBlockView<double>, const double*, BlockView<double>);

}  // namespace block_eigs::cuda
