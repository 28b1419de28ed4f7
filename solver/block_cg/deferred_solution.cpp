#include "solver/block_cg/deferred_solution.hpp"

#include <algorithm>
#include <utility>

#include "spmm/matrix/dense_block.hpp"

namespace block_eigs::bcgrq {

namespace {

/// In whose blocks a pass is bound by memory, and not by what a launch takes.
constexpr std::size_t least_bytes = std::size_t{32} << 20;
/// Of the memory of a GPU, and of what is free of it, for directions that wait. Where iterations begin in float
/// there are half as many once more: an eighth in all.
constexpr std::size_t largest_share = 12;
constexpr std::size_t largest_share_of_free = 4;

}  // namespace

template <class T>
bool DeferredSolution<T>::pays(const Device& device, const LinearOperator<T>* preconditioner, LocalIndex rows,
                               LocalIndex width) {
  if (preconditioner != nullptr && preconditioner->row_factors() == nullptr) return false;
  const std::size_t block = DenseBlock<T>::bytes(rows, width);
  if (device.backend() != Backend::cuda || block < least_bytes) return false;
  const MemoryInfo memory = device.memory();
  return depth * block <= std::min(memory.total / largest_share, memory.free / largest_share_of_free);
}

template <class T>
DeferredSolution<T>::DeferredSolution(BlockSpace<T>& space, LocalIndex width) : space_(&space) {
  for (int k = 0; k < depth; ++k) spare_.emplace_back(space, width);
}

template <class T>
Panel<T> DeferredSolution<T>::spare() {
  if (spare_.empty()) {
    const std::int64_t oldest = waiting_.front().number;
    for (std::size_t part = 0; part < parts; ++part) {
      if (absorbed_[part] <= oldest) absorb(part);
    }
    release();
  }
  Panel<T> panel = std::move(spare_.back());
  spare_.pop_back();
  return panel;
}

template <class T>
void DeferredSolution<T>::add(BlockView<T> x, Panel<T> s, SmallMatrix a) {
  x_ = x;
  waiting_.push_back({steps_++, std::move(s), std::move(a)});
}

template <class T>
void DeferredSolution<T>::advance() {
  absorb(next_);
  next_ = (next_ + 1) % parts;
  release();
}

template <class T>
void DeferredSolution<T>::complete() {
  for (std::size_t part = 0; part < parts; ++part) absorb(part);
  release();
}

template <class T>
void DeferredSolution<T>::absorb(std::size_t part) {
  const auto begin_of = [&](std::size_t p) {
    return static_cast<LocalIndex>(static_cast<std::int64_t>(x_.rows) * static_cast<std::int64_t>(p) /
                                   static_cast<std::int64_t>(parts));
  };
  const LocalIndex first = begin_of(part);
  const LocalIndex count = begin_of(part + 1) - first;
  std::vector<const Step*> steps;
  int rows = x_.cols;
  for (const Step& step : waiting_) {
    if (step.number < absorbed_[part]) continue;
    steps.push_back(&step);
    rows += step.a.rows();
  }
  absorbed_[part] = steps_;
  if (steps.empty() || count == 0) return;
  SmallMatrix coefficients(rows, x_.cols);
  for (int j = 0; j < x_.cols; ++j) {
    coefficients(j, j) = 1.0;
    double* to = coefficients.column(j) + x_.cols;
    for (const Step* const step : steps) to = std::copy_n(step->a.column(j), step->a.rows(), to);
  }
  const auto directions = [&](std::size_t k) {
    return k < steps.size() ? ConstBlockView<T>(steps[k]->s.view().row_range(first, count)) : ConstBlockView<T>{};
  };
  const BlockView<T> x = x_.row_range(first, count);
  static_assert(depth == 5 && depth < ConstBlockList<T>::capacity, "all of them in one list, with X");
  space_->update({x, directions(0), directions(1), directions(2), directions(3), directions(4)}, coefficients,
                 {x});
}

template <class T>
void DeferredSolution<T>::release() {
  const std::int64_t by_all = *std::min_element(absorbed_.begin(), absorbed_.end());
  while (!waiting_.empty() && waiting_.front().number < by_all) {
    spare_.push_back(std::move(waiting_.front().s));
    waiting_.erase(waiting_.begin());
  }
}

template class DeferredSolution<float>;
template class DeferredSolution<double>;

}  // namespace block_eigs::bcgrq
