#include "apps/bench/bench_block_cases.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace block_eigs::bench {

namespace {

/// max |got - expected| / max |expected|; infinite where something is not a number.
template <class U>
double relative_difference(std::span<const U> got, std::span<const U> expected) {
  double difference = 0.0;
  double largest = std::numeric_limits<double>::min();
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const double here = std::abs(static_cast<double>(got[k]) - static_cast<double>(expected[k]));
    if (!(here < std::numeric_limits<double>::infinity())) return std::numeric_limits<double>::infinity();
    difference = std::max(difference, here);
    largest = std::max(largest, std::abs(static_cast<double>(expected[k])));
  }
  return difference / largest;
}

}  // namespace

template <class T>
BlockCases<T>::BlockCases(std::shared_ptr<Device> device, LocalIndex rows, LocalIndex b, bool with_peer)
    : device_(std::move(device)),
      kernels_(make_kernels<T>(device_)),
      rows_(rows),
      b_(b),
      scales_(device_, static_cast<std::size_t>(rows)),
      coefficients_(3 * b, 2 * b),
      basis_change_(2 * b, b),
      lambda_(static_cast<std::size_t>(b)),
      sums_(static_cast<std::size_t>(b)) {
  for (int k = 0; k < block_count; ++k) blocks_.emplace_back(device_, rows, b);
  std::mt19937_64 random(42);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  for (double& value : coefficients_.values()) value = uniform(random);
  for (double& value : basis_change_.values()) value = uniform(random);
  for (double& value : lambda_) value = uniform(random);
  fill();
  if (!with_peer) return;
  peer_ = make_cublas_block<T>(device_);
  if (!peer_) return;
  peer_basis_ = DenseBlock<T>(device_, rows, 3 * b);
  peer_next_ = DenseBlock<T>(device_, rows, 2 * b);
  const Name basis[] = {x, p, w};
  for (int k = 0; k < 3; ++k) kernels_->copy(in(basis[k]), peer_basis_.columns(k * b, b));
  const std::vector<T> small(coefficients_.values().begin(), coefficients_.values().end());
  peer_coefficients_ = Buffer<T>(device_, small.size());
  peer_coefficients_.upload(small.data());
  peer_gram_ = Buffer<T>(device_, small.size());
}

template <class T>
void BlockCases<T>::fill() {
  for (int k = 0; k < block_count; ++k)
    kernels_->fill_random(out(static_cast<Name>(k)), static_cast<std::uint64_t>(k), 0);
  kernels_->fill_random({scales_.data(), rows_, 1, 1}, 99, 0);
}

template <class T>
BlockCase BlockCases<T>::gram_case(std::string name, Name first, double words) {
  const Name second = static_cast<Name>(first + 1);
  const Name third = static_cast<Name>(first + 2);
  BlockCase result{std::move(name), words, 6.0 * b_ * b_, [this, first, second, third] {
                     kernels_->gram({in(first), in(second), in(third)}, {in(w)}, gram_);
                   }};
  result.numbers = [this] { return std::as_const(gram_).values(); };
  if (peer_) result.peer = [this] { peer_->gram(peer_basis_.view(), in(w), peer_gram_.data()); };
  return result;
}

template <class T>
BlockCase BlockCases<T>::update_case() {
  BlockCase result{"Z C", 5.0 * b_, 12.0 * b_ * b_, [this] {
                     kernels_->update({in(x), in(p), in(w)}, coefficients_, {out(next_x), out(next_p)});
                   }};
  result.outputs = {next_x, next_p};
  if (peer_)
    result.peer = [this] { peer_->update(peer_basis_.view(), peer_coefficients_.data(), peer_next_.view()); };
  return result;
}

template <class T>
BlockCase BlockCases<T>::update_residual_case() {
  BlockCase result{"Z C and residual", 7.0 * b_, 12.0 * b_ * b_, [this] {
                     kernels_->update_residual({in(ax), in(ap), in(aw)}, coefficients_, {out(next_x), out(next_p)},
                                               in(x), lambda_, out(r), sums_);
                   }};
  result.outputs = {next_x, next_p, r};
  result.numbers = [this] { return std::span<const double>(sums_); };
  return result;
}

template <class T>
BlockCase BlockCases<T>::basis_case(bool scaled, bool at_once) {
  const double words = (scaled ? 4.0 : 3.0) * b_ + (scaled ? 1.0 : 0.0);
  const std::string name = std::string("Q, ") + (scaled ? "D Q, " : "") + "Q^T Q" + (at_once ? "" : ", apart");
  BlockCase result{
      name, words, (scaled ? 8.0 : 6.0) * b_ * b_, [this, scaled, at_once] {
        const ConstBlockList<T> from{in(x), in(aw)};
        const ConstBlockList<T> right =
            scaled ? ConstBlockList<T>{in(r), in(next_x)} : ConstBlockList<T>{in(next_x)};
        const RowScaling<T> scaling = scaled ? RowScaling<T>{scales_.data(), in(next_x), out(r)} : RowScaling<T>{};
        if (at_once) {
          kernels_->update_gram(from, basis_change_, {out(next_x)}, scaling, {in(next_x)}, right, gram_);
        } else {
          kernels_->update(from, basis_change_, {out(next_x)});
          if (scaled) kernels_->scale_rows(scales_.data(), in(next_x), out(r));
          kernels_->gram({in(next_x)}, right, gram_);
        }
      }};
  result.outputs = scaled ? std::vector<int>{next_x, r} : std::vector<int>{next_x};
  result.numbers = [this] { return std::as_const(gram_).values(); };
  return result;
}

template <class T>
BlockCase BlockCases<T>::residual_case() {
  BlockCase result{"residual", 3.0 * b_, 4.0 * b_,
                   [this] { kernels_->residual(in(ax), in(x), lambda_, out(r), sums_); }};
  result.outputs = {r};
  result.numbers = [this] { return std::span<const double>(sums_); };
  return result;
}

template <class T>
BlockCase BlockCases<T>::dots_case() {
  BlockCase result{"column dots", 2.0 * b_, 2.0 * b_, [this] { kernels_->column_dots(in(ax), in(x), sums_); }};
  result.numbers = [this] { return std::span<const double>(sums_); };
  return result;
}

template <class T>
BlockCase BlockCases<T>::axpby_case() {
  BlockCase result{"axpby", 3.0 * b_, 3.0 * b_, [this] { kernels_->axpby(0.75, in(x), 0.5, out(p)); }};
  result.outputs = {p};
  return result;
}

template <class T>
BlockCase BlockCases<T>::combine_case() {
  ProductStep<T> step;
  step.alpha = -0.25;
  step.right_hand_side = 0.25;
  step.beta = 1.5;
  step.gamma = -0.5;
  step.scale = scales_.data();
  step.r = in(r);
  BlockCase result{"combine", 5.0 * b_ + 1.0, 8.0 * b_,
                   [this, step] { kernels_->combine(step, in(aw), in(w), out(p)); }};
  result.outputs = {p};
  return result;
}

template <class T>
std::vector<BlockCase> BlockCases<T>::list() {
  return {gram_case("Z^T W", x, 3.0 * b_),
          gram_case("(AZ)^T W", ax, 4.0 * b_),
          update_case(),
          update_residual_case(),
          basis_case(false, true),
          basis_case(false, false),
          basis_case(true, true),
          basis_case(true, false),
          residual_case(),
          dots_case(),
          axpby_case(),
          combine_case()};
}

template <class T>
double largest_difference(const BlockCases<T>& got, const BlockCase& got_case, const BlockCases<T>& expected,
                          const BlockCase& expected_case) {
  double difference = 0.0;
  for (const int block : expected_case.outputs) {
    const std::vector<T> mine = got.block(block);
    const std::vector<T> theirs = expected.block(block);
    difference = std::max(difference, relative_difference<T>(mine, theirs));
  }
  if (expected_case.numbers) {
    difference = std::max(difference, relative_difference<double>(got_case.numbers(), expected_case.numbers()));
  }
  return difference;
}

template class BlockCases<float>;
template class BlockCases<double>;
template double largest_difference(const BlockCases<float>&, const BlockCase&, const BlockCases<float>&,
                                   const BlockCase&);
template double largest_difference(const BlockCases<double>&, const BlockCase&, const BlockCases<double>&,
                                   const BlockCase&);

}  // namespace block_eigs::bench
