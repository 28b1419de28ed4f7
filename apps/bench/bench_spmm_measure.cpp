#include "apps/bench/bench_spmm_measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "apps/bench/peers/cublas_block.hpp"
#include "apps/bench/product_bound.hpp"

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

template <class T>
std::vector<T> magnitudes(std::vector<T> values) {
  for (T& value : values) value = std::abs(value);
  return values;
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

/// C and |A| |B| by the host backend.
template <class T>
struct SpmmBench<T>::HostProduct {
  std::vector<T> c;
  std::vector<T> magnitudes;
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
    plans_[static_cast<int>(algorithm)] = kernels_->analyse(on_device_, {algorithm});
    if (algorithm == SpmmAlgorithm::automatic) setup_ = now() - began;
  }
  peer_ = make_cusparse_spmm<T>(device_, on_host_, on_device_);
}

template <class T>
std::unique_ptr<typename SpmmBench<T>::HostProduct> SpmmBench<T>::multiply_on_host(ConstBlockView<T> b) {
  const std::shared_ptr<Device> host = make_device(Backend::host, 0);
  const auto kernels = make_kernels<T>(host);
  const auto plan = kernels->analyse(on_host_, {});
  const auto multiply = [&](const std::vector<T>& a_values, const std::vector<T>& host_b) {
    CsrView<T> a = on_host_;
    a.values = a_values.data();
    DenseBlock<T> host_c(host, on_host_.rows, b.cols);
    kernels->spmm(*plan, a, {host_b.data(), b.rows, b.cols, b.cols}, host_c.view(), Accumulate::no, {});
    return host_c.to_host();
  };
  const std::vector<T> host_b = on_host(*device_, b);
  return std::make_unique<HostProduct>(
      HostProduct{multiply(host_values_, host_b), multiply(magnitudes(host_values_), magnitudes(host_b))});
}

template <class T>
double SpmmBench<T>::time_product(SpmmAlgorithm algorithm, ConstBlockView<T> b, BlockView<T> c, ColdTimer& timer,
                                  const HostProduct* expected, double& difference) {
  SpmmPlan& plan = *plans_[static_cast<int>(algorithm)];
  const auto multiply = [&] { kernels_->spmm(plan, on_device_, b, c, Accumulate::no, {}); };
  if (expected != nullptr) {
    kernels_->fill(c, std::numeric_limits<double>::quiet_NaN());
    multiply();
    const double excess = excess_over_roundings(on_host(*device_, ConstBlockView<T>(c)), expected->c,
                                                expected->magnitudes, on_host_.row_offsets, c.cols);
    difference = std::max(difference, excess);
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
