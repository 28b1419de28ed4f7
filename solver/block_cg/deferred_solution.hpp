#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "solver/space/block_space.hpp"
#include "solver/space/panel.hpp"
#include "spmm/small_matrix.hpp"

namespace block_eigs::bcgrq {

/// X of conjugate gradients, whose steps X <- X + S a wait: nothing reads X before a round ends. The directions of
/// the last steps are kept, and all that wait are added in one pass over a part of the rows, for which a GPU has
/// time whenever the host is about to solve a small problem. X is read and written once for `depth` steps then,
/// and mostly when nothing else would be.
template <class T>
class DeferredSolution {
 public:
  /// Steps that wait at most: their directions and X are as many blocks as one pass reads.
  static constexpr int depth = 5;

  /// Whether that is worth `depth` more blocks of `width` columns to a rank: on a GPU, where a block is too large
  /// for its caches and small beside its memory and what is free of it now, and unless products with the
  /// preconditioner (null: none) take so long that a pass over X is little.
  static bool pays(const Device& device, const LinearOperator<T>* preconditioner, LocalIndex rows,
                   LocalIndex width);

  /// Of which no step may wait.
  DeferredSolution() = default;
  /// Directions have up to `width` columns. Collective.
  DeferredSolution(BlockSpace<T>& space, LocalIndex width);

  bool defers() const { return space_ != nullptr; }
  /// For the next directions: memory that no waiting step needs, at the price of a pass where there is none.
  Panel<T> spare();
  /// x <- x + s a, some time before complete() returns; x is the same until then.
  void add(BlockView<T> x, Panel<T> s, SmallMatrix a);
  /// Adds all steps that there are by now to the next part of the rows.
  void advance();
  /// Adds all steps that there are by now to all rows.
  void complete();

 private:
  /// Two a step: the host solves a small problem twice.
  static constexpr std::size_t parts = std::size_t{2} * depth;

  struct Step {
    std::int64_t number = 0;  ///< of all that there were
    Panel<T> s{};
    SmallMatrix a{};
  };

  void absorb(std::size_t part);
  /// The memory of steps that all parts have.
  void release();

  BlockSpace<T>* space_ = nullptr;
  BlockView<T> x_{};
  std::vector<Step> waiting_;  ///< oldest first
  std::vector<Panel<T>> spare_;
  std::int64_t steps_ = 0;                      ///< that were added
  std::array<std::int64_t, parts> absorbed_{};  ///< of these, by the rows of each part
  std::size_t next_ = 0;                        ///< part
};

}  // namespace block_eigs::bcgrq
