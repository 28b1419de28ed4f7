#pragma once

#include <memory>
#include <vector>

#include "spmm/device/kernels.hpp"
#include "spmm/host/sparse/balance.hpp"
#include "spmm/host/sparse/locality.hpp"
#include "spmm/host/sparse/product_sums.hpp"

namespace block_eigs::host {

/// How the host multiplies one sparse matrix.
class HostSpmmPlan final : public SpmmPlan {
 public:
  /// Share s of the nonzeros goes from positions[s] to positions[s + 1].
  HostSpmmPlan(std::vector<Position> positions, Fetch fetching)
      : positions_(std::move(positions)), fetching_(fetching) {}

  void reserve(LocalIndex columns) override { make_carries(static_cast<std::size_t>(columns) * sizeof(double)); }

  Fetch fetching() const { return fetching_; }

  int shares() const { return static_cast<int>(positions_.size()) - 1; }
  const Position& begin(int share) const { return positions_[static_cast<std::size_t>(share)]; }
  const Position& end(int share) const { return positions_[static_cast<std::size_t>(share) + 1]; }

  /// One row a share, for its part of a row that it does not finish; at least `bytes` a row.
  std::byte* carry(int share) { return carries_.data() + static_cast<std::size_t>(share) * carry_bytes_; }
  void make_carries(std::size_t bytes) {
    if (bytes <= carry_bytes_) return;
    carry_bytes_ = bytes;
    carries_.resize(bytes * static_cast<std::size_t>(shares()));
  }

 private:
  std::vector<Position> positions_;
  Fetch fetching_;
  std::size_t carry_bytes_ = 0;
  std::vector<std::byte> carries_;
};

/// Row-split: whole rows, equal nonzeros, only rows longer than a share are cut. Merge: equal shares, cut
/// anywhere. `automatic` is row-split, which saves the carries and never has a share larger than two of merge's.
template <class T>
std::unique_ptr<HostSpmmPlan> make_spmm_plan(const CsrView<T>& a, SpmmAlgorithm algorithm);

/// See Kernels::spmm. What becomes of C goes to `sums` too, unless they are null.
template <class T>
void multiply(HostSpmmPlan& plan, const CsrView<T>& a, ConstBlockView<T> b, BlockView<T> c,
              const ProductStep<T>& step, const Progress& progress, ProductSums<T>* sums = nullptr);

}  // namespace block_eigs::host
