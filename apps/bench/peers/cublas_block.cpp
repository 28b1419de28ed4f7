#include "apps/bench/peers/cublas_block.hpp"

#include <cublas_v2.h>

#include <string>

#include "spmm/cuda/runtime/cuda_device.hpp"
#include "spmm/error.hpp"

namespace block_eigs::bench {

namespace {

void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw RunError(std::string("cuBLAS: ") + what + ": " + cublasGetStatusString(status));
}

cublasStatus_t gemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
                    const double* a, int lda, const double* b, int ldb, double* c, int ldc) {
  const double one = 1.0;
  const double zero = 0.0;
  return cublasDgemm(handle, op_a, op_b, m, n, k, &one, a, lda, b, ldb, &zero, c, ldc);
}

cublasStatus_t gemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
                    const float* a, int lda, const float* b, int ldb, float* c, int ldc) {
  const float one = 1.0F;
  const float zero = 0.0F;
  return cublasSgemm(handle, op_a, op_b, m, n, k, &one, a, lda, b, ldb, &zero, c, ldc);
}

template <class T>
class Cublas final : public CublasBlock<T> {
 public:
  explicit Cublas(std::shared_ptr<cuda::CudaDevice> device) : device_(std::move(device)) {
    const cudaStream_t stream = device_->stream(Queue::compute);
    check(cublasCreate(&handle_), "create");
    check(cublasSetStream(handle_, stream), "set the stream");
  }
  ~Cublas() override { cublasDestroy(handle_); }

  void gram(ConstBlockView<T> left, ConstBlockView<T> right, T* result) override {
    check(gemm(handle_, CUBLAS_OP_N, CUBLAS_OP_T, left.cols, right.cols, left.rows, left.data, left.stride,
               right.data, right.stride, result, left.cols),
          "gemm");
  }

  void update(ConstBlockView<T> in, const T* coefficients, BlockView<T> out) override {
    check(gemm(handle_, CUBLAS_OP_T, CUBLAS_OP_N, out.cols, out.rows, in.cols, coefficients, in.cols, in.data,
               in.stride, out.data, out.stride),
          "gemm");
  }

 private:
  std::shared_ptr<cuda::CudaDevice> device_;
  cublasHandle_t handle_ = nullptr;
};

}  // namespace

template <class T>
std::unique_ptr<CublasBlock<T>> make_cublas_block(const std::shared_ptr<Device>& device) {
  if (device->backend() != Backend::cuda) return nullptr;
  return std::make_unique<Cublas<T>>(std::static_pointer_cast<cuda::CudaDevice>(device));
}

template std::unique_ptr<CublasBlock<float>> make_cublas_block(const std::shared_ptr<Device>&);
template std::unique_ptr<CublasBlock<double>> make_cublas_block(const std::shared_ptr<Device>&);

}  // namespace block_eigs::bench
