#include "apps/bench/peers/cusparse_spmm.hpp"

#include <cusparse.h>

#include <array>
#include <limits>

#include "spmm/cuda/runtime/cuda_device.hpp"
#include "spmm/cuda/sparse/spmm_rule.hpp"
#include "spmm/device/buffer.hpp"
#include "spmm/error.hpp"

namespace block_eigs::bench {

namespace {

void check(cusparseStatus_t status, const char* what) {
  if (status != CUSPARSE_STATUS_SUCCESS) {
    throw RunError(std::string("cuSPARSE: ") + what + ": " + cusparseGetErrorString(status));
  }
}

constexpr std::array<cusparseSpMMAlg_t, 4> algorithms{CUSPARSE_SPMM_ALG_DEFAULT, CUSPARSE_SPMM_CSR_ALG1,
                                                      CUSPARSE_SPMM_CSR_ALG2, CUSPARSE_SPMM_CSR_ALG3};

template <class T>
class Cusparse final : public CusparseSpmm<T> {
 public:
  Cusparse(std::shared_ptr<cuda::CudaDevice> device, const CsrView<T>& host, const CsrView<T>& a)
      : device_(std::move(device)), offsets_(device_, static_cast<std::size_t>(a.rows) + 1) {
    const std::vector<int> offsets(host.row_offsets, host.row_offsets + host.rows + 1);
    offsets_.upload(offsets.data());
    check(cusparseCreate(&handle_), "create");
    check(cusparseSetStream(handle_, device_->stream(Queue::compute)), "set the stream");
    check(cusparseCreateCsr(&a_, a.rows, a.columns, a.nonzeros, offsets_.data(),
                            const_cast<LocalIndex*>(a.column_indices), const_cast<T*>(a.values),
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type),
          "matrix");
  }
  ~Cusparse() override {
    forget_blocks();
    cusparseDestroySpMat(a_);
    cusparseDestroy(handle_);
  }

  bool prepare(int algorithm, ConstBlockView<T> b, BlockView<T> c) override {
    forget_blocks();
    algorithm_ = algorithms[static_cast<std::size_t>(algorithm)];
    check(cusparseCreateDnMat(&b_, b.rows, b.cols, b.stride, const_cast<T*>(b.data), type, CUSPARSE_ORDER_ROW),
          "B");
    check(cusparseCreateDnMat(&c_, c.rows, c.cols, c.stride, c.data, type, CUSPARSE_ORDER_ROW), "C");
    std::size_t bytes = 0;
    constexpr auto as_is = CUSPARSE_OPERATION_NON_TRANSPOSE;
    if (cusparseSpMM_bufferSize(handle_, as_is, as_is, &one_, a_, b_, &zero_, c_, type, algorithm_, &bytes) !=
        CUSPARSE_STATUS_SUCCESS) {
      return false;
    }
    workspace_ = Buffer<char>(device_, bytes + 16);
    return cusparseSpMM_preprocess(handle_, as_is, as_is, &one_, a_, b_, &zero_, c_, type, algorithm_,
                                   workspace_.data()) == CUSPARSE_STATUS_SUCCESS;
  }

  void multiply() override {
    constexpr auto as_is = CUSPARSE_OPERATION_NON_TRANSPOSE;
    check(cusparseSpMM(handle_, as_is, as_is, &one_, a_, b_, &zero_, c_, type, algorithm_, workspace_.data()),
          "SpMM");
  }

 private:
  static constexpr cudaDataType type = sizeof(T) == 8 ? CUDA_R_64F : CUDA_R_32F;

  void forget_blocks() {
    if (b_ != nullptr) cusparseDestroyDnMat(b_);
    if (c_ != nullptr) cusparseDestroyDnMat(c_);
    b_ = c_ = nullptr;
  }

  std::shared_ptr<cuda::CudaDevice> device_;
  Buffer<int> offsets_;
  Buffer<char> workspace_;
  cusparseHandle_t handle_ = nullptr;
  cusparseSpMatDescr_t a_ = nullptr;
  cusparseDnMatDescr_t b_ = nullptr;
  cusparseDnMatDescr_t c_ = nullptr;
  cusparseSpMMAlg_t algorithm_ = CUSPARSE_SPMM_ALG_DEFAULT;
  T one_ = 1;
  T zero_ = 0;
};

}  // namespace

template <class T>
std::unique_ptr<CusparseSpmm<T>> make_cusparse_spmm(const std::shared_ptr<Device>& device, const CsrView<T>& host,
                                                    const CsrView<T>& a) {
  auto gpu = std::dynamic_pointer_cast<cuda::CudaDevice>(device);
  if (gpu == nullptr || a.nonzeros > std::numeric_limits<int>::max()) return nullptr;
  return std::make_unique<Cusparse<T>>(std::move(gpu), host, a);
}

SpmmAlgorithm chosen_algorithm(const SpmmPlan& plan) {
  const auto* known = dynamic_cast<const cuda::CudaSpmmPlan*>(&plan);
  return known == nullptr ? SpmmAlgorithm::automatic : cuda::choose_algorithm(*known);
}

template std::unique_ptr<CusparseSpmm<float>> make_cusparse_spmm(const std::shared_ptr<Device>&,
                                                                 const CsrView<float>&, const CsrView<float>&);
template std::unique_ptr<CusparseSpmm<double>> make_cusparse_spmm(const std::shared_ptr<Device>&,
                                                                  const CsrView<double>&, const CsrView<double>&);

}  // namespace block_eigs::bench
