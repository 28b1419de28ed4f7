#include "apps/bench/bench_spmm_measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "apps/bench/peers/cublas_block.hpp"

namespace block_eigs::bench {

namespace {

constexpr SpmmAlgorithm algorithms[] = {SpmmAlgorithm::automatic, SpmmAlgorithm::row_split, SpmmAlgorithm::merge};

template <class X>
Buffer<X> uploaded(const std::shared_ptr<Device>& device, const std::vector<X>& values) {
  Buffer<X> buffer(device, values.size());
  buffer.upload(values.data());
  return buffer;
}

/// A block without padding, in host memory.
template <class T>
std::vector<T> on_host(Device& device, ConstBlockView<T> block) {
  std::vector<T> values(static_cast<std::size_t>(block.rows) * static_cast<std::size_t>(block.cols));
  device.copy_to_host(values.data(), block.data, values.size() * sizeof(T), Queue::compute);
  device.synchronize(Queue::compute);
  return values;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Infinite where an element is no number.
template <class T>
double largest_difference(const std::vector<T>& got, const std::vector<T>& expected) {
  double largest = 0.0;
#pragma omp parallel for reduction(max : largest)
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double error = std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
    largest = std::max(largest, std::isnan(error) ? std::numeric_limits<double>::infinity() : error);
  }
  return largest;
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

// ---- timing ----

ColdTimer::ColdTimer(std::shared_ptr<Device> device)
    : device_(std::move(device)), kernels_(make_kernels<double>(device_)), scratch_(device_, 3'000'000, 8) {}

void ColdTimer::sweep() { kernels_->fill(scratch_.view(), 1.0); }

template <class Work>
double ColdTimer::median_seconds(int repeats, const Work& work) {
  const auto begin = device_->make_event();
  const auto end = device_->make_event();
  std::vector<double> seconds;
  for (int k = -2; k < repeats; ++k) {
    sweep();
    device_->record(*begin, Queue::compute);
    work();
    device_->record(*end, Queue::compute);
    const double taken = device_->seconds_between(*begin, *end);
    if (k >= 0) seconds.push_back(taken);
  }
  return median(seconds);
}

double ColdTimer::copy_bandwidth() {
  const std::size_t bytes = std::size_t{1} << (device_->host_addressable() ? 28 : 30);
  Buffer<char> from(device_, bytes), to(device_, bytes);
  device_->copy_within(from.data(), to.data(), bytes, Queue::compute);  // touches the pages
  const double seconds =
      median_seconds(11, [&] { device_->copy_within(to.data(), from.data(), bytes, Queue::compute); });
  return 2.0 * static_cast<double>(bytes) / seconds;
}

// ---- one matrix ----

/// C by the host backend, and how far off a correct product may be: rounding in a row's sum, in any order.
template <class T>
struct SpmmBench<T>::HostProduct {
  std::vector<T> c;
  double bound = 0.0;
};

template <class T>
SpmmBench<T>::SpmmBench(std::shared_ptr<Device> device, const CsrArrays<double>& matrix,
                        const SpmmBenchSettings& settings)
    : device_(std::move(device)),
      settings_(settings),
      kernels_(make_kernels<T>(device_)),
      matrix_(matrix),
      host_values_(matrix.values.begin(), matrix.values.end()),
      offsets_(uploaded(device_, matrix.row_offsets)),
      columns_(uploaded(device_, matrix.column_indices)),
      values_(uploaded(device_, host_values_)) {
  const auto rows = static_cast<LocalIndex>(matrix.row_offsets.size() - 1);
  on_host_ = {rows,
              matrix.columns,
              matrix.row_offsets.back(),
              matrix.row_offsets.data(),
              matrix.column_indices.data(),
              host_values_.data(),
              nullptr};
  on_device_ = {rows,           matrix.columns, matrix.row_offsets.back(), offsets_.data(), columns_.data(),
                values_.data(), nullptr};
  for (const SpmmAlgorithm algorithm : algorithms) {
    const double began = now();
    plans_[static_cast<int>(algorithm)] = kernels_->analyse(on_host_, on_device_, {algorithm});
    if (algorithm == SpmmAlgorithm::automatic) setup_ = now() - began;
  }
  peer_ = make_cusparse_spmm<T>(device_, on_host_, on_device_);
}

template <class T>
std::unique_ptr<typename SpmmBench<T>::HostProduct> SpmmBench<T>::multiply_on_host(ConstBlockView<T> b) {
  const std::shared_ptr<Device> host = make_device(Backend::host, 0);
  const auto kernels = make_kernels<T>(host);
  const std::vector<T> host_b = on_host(*device_, b);
  DenseBlock<T> host_c(host, on_host_.rows, b.cols);
  const auto plan = kernels->analyse(on_host_, on_host_, {});
  kernels->spmm(*plan, on_host_, {host_b.data(), b.rows, b.cols, b.cols}, host_c.view(), Accumulate::no, {});
  auto result = std::make_unique<HostProduct>();
  result->c = host_c.to_host();
  double largest = 0.0;  // |A| times a block of ones: the elements of B are below 1
  for (LocalIndex row = 0; row < on_host_.rows; ++row) {
    double sum = 0.0;
    for (Offset k = on_host_.row_offsets[row]; k < on_host_.row_offsets[row + 1]; ++k) {
      sum += std::abs(static_cast<double>(on_host_.values[k]));
    }
    largest = std::max(largest, sum);
  }
  result->bound = 16.0 * static_cast<double>(std::numeric_limits<T>::epsilon()) * std::max(largest, 1e-300);
  return result;
}

template <class T>
double SpmmBench<T>::time_product(SpmmAlgorithm algorithm, ConstBlockView<T> b, BlockView<T> c, ColdTimer& timer,
                                  const HostProduct* expected, double& difference) {
  SpmmPlan& plan = *plans_[static_cast<int>(algorithm)];
  const auto multiply = [&] { kernels_->spmm(plan, on_device_, b, c, Accumulate::no, {}); };
  if (expected != nullptr) {
    kernels_->fill(c, std::numeric_limits<double>::quiet_NaN());
    multiply();
    difference = std::max(
        difference, largest_difference(on_host(*device_, ConstBlockView<T>(c)), expected->c) / expected->bound);
  }
  return timer.median_seconds(settings_.repeats, multiply);
}

template <class T>
void SpmmBench<T>::time_peer(ConstBlockView<T> b, BlockView<T> c, ColdTimer& timer, SpmmMeasurement& result) {
  if (peer_ == nullptr) return;
  const std::vector<std::string> names = CusparseSpmm<T>::algorithms();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!peer_->prepare(static_cast<int>(i), b, c)) continue;
    const double seconds = timer.median_seconds(settings_.repeats, [&] { peer_->multiply(); });
    if (result.peer > 0.0 && seconds >= result.peer) continue;
    result.peer = seconds;
    result.peer_algorithm = names[i];
  }
}

template <class T>
double SpmmBench<T>::time_dense_peer(LocalIndex n, ColdTimer& timer) {
  const auto cublas = make_cublas_block<T>(device_);
  if (cublas == nullptr) return 0.0;
  // As a long narrow block it is filled, as a matrix it is multiplied; what is left over stays what it was.
  constexpr LocalIndex width = 1000;
  const std::size_t elements = static_cast<std::size_t>(on_host_.rows) * static_cast<std::size_t>(matrix_.columns);
  Buffer<T> memory(device_, elements);
  kernels_->fill_random({memory.data(), static_cast<LocalIndex>(elements / width), width, width}, 1, 0);
  const ConstBlockView<T> a{memory.data(), on_host_.rows, matrix_.columns, matrix_.columns};
  DenseBlock<T> b(device_, matrix_.columns, n);
  DenseBlock<T> c(device_, on_host_.rows, n);
  kernels_->fill_random(b.view(), 2, 0);
  return timer.median_seconds(settings_.repeats, [&] { cublas->update(a, b.view().data, c.view()); });
}

template <class T>
SpmmMeasurement SpmmBench<T>::measure(LocalIndex n, ColdTimer& timer) {
  SpmmMeasurement result;
  result.precision = sizeof(T) == 8 ? "double" : "float";
  result.rows = on_host_.rows;
  result.columns = on_host_.columns;
  result.nonzeros = on_host_.nonzeros;
  result.n = n;
  result.setup = setup_;
  const double words = (static_cast<double>(result.rows) + result.columns) * n;
  result.floor = (static_cast<double>(result.nonzeros) * (sizeof(T) + sizeof(LocalIndex)) + 8.0 * result.rows +
                  words * sizeof(T)) /
                 settings_.bandwidth;
  // Without padding: what a caller of cuSPARSE would have.
  Buffer<T> b_memory(device_, static_cast<std::size_t>(result.columns) * static_cast<std::size_t>(n));
  Buffer<T> c_memory(device_, static_cast<std::size_t>(result.rows) * static_cast<std::size_t>(n));
  const BlockView<T> b{b_memory.data(), result.columns, n, n};
  const BlockView<T> c{c_memory.data(), result.rows, n, n};
  kernels_->fill_random(b, 1, 0);
  const auto expected = settings_.check ? multiply_on_host(b) : nullptr;
  double difference = settings_.check ? 0.0 : -1.0;
  result.row_split = time_product(SpmmAlgorithm::row_split, b, c, timer, expected.get(), difference);
  result.merge = time_product(SpmmAlgorithm::merge, b, c, timer, expected.get(), difference);
  result.automatic = time_product(SpmmAlgorithm::automatic, b, c, timer, expected.get(), difference);
  result.difference = difference;
  result.chosen = chosen_algorithm(*plans_[static_cast<int>(SpmmAlgorithm::automatic)]);
  time_peer(b, c, timer, result);
  if (settings_.dense_peer) result.dense_peer = time_dense_peer(n, timer);
  return result;
}

template class SpmmBench<float>;
template class SpmmBench<double>;

}  // namespace block_eigs::bench
