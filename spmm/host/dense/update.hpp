#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "spmm/host/dense/column_sums.hpp"
#include "spmm/host/runtime/scratch.hpp"
#include "spmm/host/sparse/prefetch.hpp"
#include "spmm/small_matrix.hpp"
#include "spmm/types.hpp"

namespace block_eigs::host {

/// What is computed from the first columns of the updated block while they are at hand, see
/// Kernels::update_residual.
template <class T>
struct FusedResidual {
  ConstBlockView<T> bx;
  std::span<const double> lambda;
  BlockView<T> r;
  std::span<double> squared_norms;
};

/// What becomes of rows begin .. end - 1 of the updated block while they are at hand, on thread `part`.
using AfterTile = std::function<void(int part, std::ptrdiff_t begin, std::ptrdiff_t end)>;

/// What one input adds to a few columns of a product: its product with their coefficients, or something simpler.
struct Term {
  enum class Kind { nothing, product, itself };
  Kind kind = Kind::product;
  int column = 0;  ///< of the input, from which on its columns are added as they are
};
/// One an input.
using Terms = std::array<Term, ViewList<ConstBlockView<float>>::capacity>;

/// Products [out] = [in] coefficients of tall blocks, a few rows times a few vectors of columns at a time. An
/// output whose rows are made at once, and whose memory no other part of the product reads then, is written where
/// it belongs. Others are computed into the thread's own memory, a tile of rows, and copied out when nothing will
/// read the tile's inputs again: that is what makes updates in place safe, and lets a residual be formed from rows
/// that are still in cache.
template <class T>
class Update {
 public:
  /// Most rows that `then` is called with.
  static constexpr std::ptrdiff_t most_rows = 96;

  /// See Kernels::update and, with `residual` not null, Kernels::update_residual.
  void multiply(const ConstBlockList<T>& in, const SmallMatrix& coefficients, const BlockList<T>& out,
                const FusedResidual<T>* residual = nullptr, const AfterTile& then = {});

 private:
  using Kernel = void (*)(const ConstBlockList<T>& in, std::ptrdiff_t row, const Terms& terms,
                          const T* coefficients, T* out, std::ptrdiff_t out_stride, Prefetch prefetch);

  /// A few vectors of columns of the result, and their coefficients packed in the order of use. Inputs whose
  /// coefficients are zero are left out, and where they are a part of the identity nothing is multiplied.
  struct Group {
    int first_column, vectors, vector_bytes;
    std::size_t coefficients = 0;
    Terms terms{};
    BlockView<T> direct{};  ///< its columns of the output, where these are written at once; else without data
  };

  void pack(const ConstBlockList<T>& in, const SmallMatrix& coefficients, const BlockList<T>& out);
  void pack_run(const ConstBlockList<T>& in, const SmallMatrix& coefficients, int first_column, int vectors);
  void pack_group(const ConstBlockList<T>& in, const SmallMatrix& coefficients, Group group);
  void find_direct(const ConstBlockList<T>& in, const BlockList<T>& out);
  bool reads(std::size_t first_group, const ConstBlockList<T>& in, ConstBlockView<T> memory) const;
  void plan_prefetches(const ConstBlockList<T>& in, const BlockList<T>& out, const FusedResidual<T>* residual,
                       std::ptrdiff_t tile);
  void multiply_tile(const ConstBlockList<T>& in, std::ptrdiff_t begin, std::ptrdiff_t rows, std::ptrdiff_t tile,
                     T* product) const;

  std::vector<Group> groups_;
  std::vector<T> packed_;
  std::array<bool, Terms{}.size()> copied_{};  ///< outputs that come by way of the thread's memory
  std::ptrdiff_t product_stride_ = 0;
  PrefetchPlan<T> prefetches_;
  std::vector<Scratch> scratch_;
  ColumnSums<T> norms_;
};

}  // namespace block_eigs::host
