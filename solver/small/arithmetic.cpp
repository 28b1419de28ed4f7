#include "solver/small/arithmetic.hpp"

#include <bit>
#include <cmath>
#include <fstream>
#include <string>
#include <string_view>

#include "solver/small/lapack.hpp"
#include "solver/small/lapack_buffers.hpp"
#include "solver/small/lowest_eigenpairs.hpp"

namespace block_eigs {

namespace {

constexpr std::uint64_t prime = 1099511628211u;

std::uint64_t digest_of_text(std::string_view text, std::uint64_t before) {
  for (const char letter : text) before = (before ^ static_cast<unsigned char>(letter)) * prime;
  return before;
}

/// Model and instructions of the first processor, in the words of the kernel; nothing where it says nothing.
std::uint64_t digest_of_processor(std::uint64_t before) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line) && !line.empty();) {
    for (const std::string_view key : {"vendor_id", "cpu family", "model", "flags", "CPU ", "Features"}) {
      if (line.starts_with(key)) before = digest_of_text(line, before);
    }
  }
  return before;
}

/// Symmetric and positive definite, without any structure.
SmallMatrix example(int n) {
  SmallMatrix matrix(n, n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i <= j; ++i) matrix(i, j) = matrix(j, i) = 1.0 / (1.0 + (7 * i * j + 3 * (i + j)) % 31);
    matrix(j, j) = n + 1.0 / (j + 1.0);
  }
  return matrix;
}

std::uint64_t digest_of_problems(std::uint64_t before) {
  for (const int n : {5, 24, 61}) {
    SmallMatrix factor = example(n), vectors = example(n), images = example(n);
    lapack::cholesky(factor);
    lapack::solve_lower(factor, images);
    const std::vector<double> values = lapack::symmetric_eigen(vectors);
    before = digest_of(values, before);
    before = digest_of(lapack::product(vectors, true, images, false).values(), before);
    before = digest_of(lapack::orthonormal_rows(images).values(), before);
    const LowestEigenpairs lowest = lowest_eigenpairs(example(n), n / 3);
    before = digest_of(lowest.vectors.values(), digest_of(lowest.values, before));
  }
  return before;
}

}  // namespace

std::uint64_t digest_of(std::span<const double> values, std::uint64_t before) {
  for (const double value : values) {
    // The upper half into the lower one, which a product alone never reaches.
    before = (before ^ std::bit_cast<std::uint64_t>(value)) * prime;
    before ^= before >> 32U;
  }
  return before;
}

std::uint64_t arithmetic_digest() {
  if (!lapack::keeps_order_of_sums()) return 0;
  static const std::uint64_t digest = digest_of_problems(
      digest_of_processor(static_cast<std::uint64_t>(lapack::blas_threads()) + 14695981039346656037u));
  return digest;
}

}  // namespace block_eigs
