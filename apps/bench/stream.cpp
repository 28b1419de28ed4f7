#include "apps/bench/stream.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

extern "C" void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
                       const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
                       const double* beta, double* c, const int* ldc);

namespace block_eigs::bench {

namespace {

double best_seconds(int repeats, const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= repeats; ++i) {
    const auto begin = Clock::now();
    work();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (i > 0) best = std::min(best, seconds);  // the first run warms up
  }
  return best;
}

/// Three arrays whose pages were first touched by the threads that stream through them.
class Arrays {
 public:
  Arrays(int threads, std::size_t array_bytes)
      : threads_(threads), size_(static_cast<std::ptrdiff_t>(array_bytes / sizeof(double))) {
    for (auto& array : arrays_) array = std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(size_));
    double* a = arrays_[0].get();
    double* b = arrays_[1].get();
    double* c = arrays_[2].get();
#pragma omp parallel for schedule(static) num_threads(threads_)
    for (std::ptrdiff_t i = 0; i < size_; ++i) {
      a[i] = 0.0;
      b[i] = 1.0;
      c[i] = 2.0;
    }
  }

  double words() const { return static_cast<double>(size_); }

  void triad() {
    double* a = arrays_[0].get();
    const double* b = arrays_[1].get();
    const double* c = arrays_[2].get();
#pragma omp parallel for simd schedule(static) num_threads(threads_)
    for (std::ptrdiff_t i = 0; i < size_; ++i) a[i] = b[i] + 0.5 * c[i];
  }

  double sum() const {
    constexpr int independent = 64;  // so that the additions do not wait for each other
    const double* b = arrays_[1].get();
    const std::ptrdiff_t blocks = size_ / independent;
    double total = 0.0;
#pragma omp parallel num_threads(threads_) reduction(+ : total)
    {
      double sums[independent] = {};
#pragma omp for schedule(static)
      for (std::ptrdiff_t block = 0; block < blocks; ++block) {
#pragma omp simd
        for (int i = 0; i < independent; ++i) sums[i] += b[block * independent + i];
      }
      for (const double sum : sums) total += sum;
    }
    return total;
  }

 private:
  int threads_;
  std::ptrdiff_t size_;
  std::unique_ptr<double[]> arrays_[3];
};

double dgemm_rate(int repeats) {
  const int n = 768;
  const double one = 1.0;
  const double zero = 0.0;
  const std::vector<double> a(static_cast<std::size_t>(n) * n, 0.5);
  std::vector<double> c(a.size());
  const double seconds = best_seconds(
      repeats, [&] { dgemm_("N", "N", &n, &n, &n, &one, a.data(), &n, a.data(), &n, &zero, c.data(), &n); });
  return 2.0 * n * n * n / seconds;
}

}  // namespace

MachineRates measure_machine(int threads, std::size_t array_bytes, int repeats) {
  Arrays arrays(threads, array_bytes);
  MachineRates rates;
  volatile double sink = 0.0;  // so that the sum is not optimised away
  rates.read_bandwidth = sizeof(double) * arrays.words() / best_seconds(repeats, [&] { sink = arrays.sum(); });
  rates.triad_bandwidth = 3.0 * sizeof(double) * arrays.words() / best_seconds(repeats, [&] { arrays.triad(); });
  rates.dgemm_rate = dgemm_rate(repeats);
  return rates;
}

}  // namespace block_eigs::bench
