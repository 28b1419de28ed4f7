#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "spmm/cuda/runtime/cuda_backend.hpp"
#include "spmm/device/buffer.hpp"
#include "spmm/device/kernels.hpp"
#include "spmm/host/runtime/threads.hpp"

namespace block_eigs::test {

template <class T, Backend backend_>
struct OnBackend {
  using Scalar = T;
  static constexpr Backend backend = backend_;
};

using EveryBackend = ::testing::Types<OnBackend<double, Backend::host>, OnBackend<float, Backend::host>,
                                      OnBackend<double, Backend::cuda>, OnBackend<float, Backend::cuda>>;

/// "host_double", ..., so that --gtest_filter=*cuda* picks a backend.
struct BackendName {
  template <class Param>
  static std::string GetName(int) {
    return std::string(name_of(Param::backend)) + (sizeof(typename Param::Scalar) == 8 ? "_double" : "_float");
  }
};

/// Unit roundoff of T.
template <class T>
constexpr double roundoff = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2.0;

/// Row-major block in host memory with its padding, element by element.
template <class T>
class HostBlock {
 public:
  HostBlock(LocalIndex rows, LocalIndex cols, LocalIndex stride)
      : rows_(rows),
        cols_(cols),
        stride_(stride),
        values_(static_cast<std::size_t>(rows) * static_cast<std::size_t>(stride)) {}

  LocalIndex rows() const { return rows_; }
  LocalIndex cols() const { return cols_; }
  LocalIndex stride() const { return stride_; }
  std::vector<T>& values() { return values_; }
  const std::vector<T>& values() const { return values_; }
  T& operator()(LocalIndex i, LocalIndex j) { return values_[position(i, j)]; }
  T operator()(LocalIndex i, LocalIndex j) const { return values_[position(i, j)]; }

 private:
  std::size_t position(LocalIndex i, LocalIndex j) const {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(stride_) + static_cast<std::size_t>(j);
  }

  LocalIndex rows_;
  LocalIndex cols_;
  LocalIndex stride_;
  std::vector<T> values_;
};

using Random = std::mt19937_64;

inline LocalIndex pick(Random& random, LocalIndex low, LocalIndex high) {
  return std::uniform_int_distribution<LocalIndex>(low, high)(random);
}

/// Uniform in [-1, 1], padding included, so that a kernel that reads or writes padding is seen.
template <class T>
HostBlock<T> random_block(Random& random, LocalIndex rows, LocalIndex cols, LocalIndex stride) {
  HostBlock<T> block(rows, cols, stride);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  for (T& value : block.values()) value = static_cast<T>(uniform(random));
  return block;
}

/// The same block where the device has it.
template <class T>
class DeviceBlock {
 public:
  DeviceBlock(const std::shared_ptr<Device>& device, const HostBlock<T>& block)
      : rows_(block.rows()), cols_(block.cols()), stride_(block.stride()), buffer_(device, block.values().size()) {
    buffer_.upload(block.values().data());
  }

  BlockView<T> view() { return {buffer_.data(), rows_, cols_, stride_}; }
  ConstBlockView<T> view() const { return {buffer_.data(), rows_, cols_, stride_}; }
  HostBlock<T> download() const {
    HostBlock<T> block(rows_, cols_, stride_);
    buffer_.download(block.values().data());
    return block;
  }

 private:
  LocalIndex rows_;
  LocalIndex cols_;
  LocalIndex stride_;
  Buffer<T> buffer_;
};

template <class T>
Buffer<T> upload(const std::shared_ptr<Device>& device, const std::vector<T>& values) {
  Buffer<T> buffer(device, values.size());
  buffer.upload(values.data());
  return buffer;
}

/// One test body, every backend: a Device and its Kernels<T>. A test on an absent GPU is skipped, and says so.
template <class Param>
class DeviceTest : public ::testing::Test {
 protected:
  using Scalar = typename Param::Scalar;

  void SetUp() override {
    if (Param::backend == Backend::cuda && cuda::device_count() == 0) {
      GTEST_SKIP() << "this machine has no GPU, or this build no CUDA backend: nothing was tested";
    }
    host::set_threads(host::threads(), 1);  // few rows as well
    device_ = make_device(Param::backend, 0);
    kernels_ = make_kernels<Scalar>(device_);
  }

  DeviceBlock<Scalar> on_device(const HostBlock<Scalar>& block) { return {device_, block}; }

  std::shared_ptr<Device> device_;
  std::shared_ptr<Kernels<Scalar>> kernels_;
  Random random_{20240229};
};

}  // namespace block_eigs::test
