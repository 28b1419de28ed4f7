#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "spmm/overlap.hpp"
#include "spmm/small_matrix.hpp"
#include "spmm/types.hpp"

// How an update that is too wide for one kernel launch is cut into products that are not: plain C++, so that the
// cutting is tested without a GPU.
namespace block_eigs::cuda {

/// Columns that one product takes.
struct SlabLimits {
  LocalIndex inputs = 0;
  LocalIndex outputs = 0;
};

/// How many rows a panel holds, and how many doubles that takes.
struct PanelShape {
  LocalIndex rows = 0;
  std::size_t doubles = 0;
};

/// For `rows` rows of `row_bytes` bytes (0: no panel) beside `coefficients` doubles: as large as those, at least
/// 64 MiB, at most what all rows need.
inline PanelShape panel_shape(LocalIndex rows, std::size_t row_bytes, std::size_t coefficients) {
  if (row_bytes == 0) return {rows, 0};
  const std::size_t room = std::max(coefficients, std::size_t{8} << 20) * sizeof(double);
  const std::size_t fitting = std::clamp<std::size_t>(room / row_bytes, 1, static_cast<std::size_t>(rows));
  return {static_cast<LocalIndex>(fitting), (fitting * row_bytes + sizeof(double) - 1) / sizeof(double)};
}

/// [out] = [in] coefficients as products of at most `limits` columns each. Outputs are cut into slabs of columns,
/// each of one view. Inputs are read whole where they are not too wide, else each view is cut and the products of
/// the pieces are added up in the outputs. Where an output lies in the memory of inputs, these are copied to a
/// panel, some rows at a time, before any output of those rows is written.
template <class T>
class UpdateSlabs {
 public:
  UpdateSlabs(const ConstBlockList<T>& in, const BlockList<T>& out, const SlabLimits& limits)
      : in_(in), out_(out), slabs_(cut(out, limits.outputs)) {
    if (in.cols() > limits.inputs) pieces_ = cut(in, limits.inputs);
    for (int v = 0; v < in.size(); ++v) {
      panel_at_.push_back(-1);
      if (std::none_of(out.begin(), out.end(),
                       [&](const BlockView<T>& view) { return overlap<T>(ConstBlockView<T>(view), in[v]); })) {
        continue;
      }
      panel_at_.back() = panel_columns_;
      panel_columns_ += (in[v].cols + alignment - 1) / alignment * alignment;
    }
  }

  /// Products of a set of rows, in the order in which they are to be done.
  int products() const { return static_cast<int>(slabs_.size()) * groups(); }
  /// Columns of the panel, 0 where none is needed.
  LocalIndex panel_columns() const { return panel_columns_; }

  /// What product number `product` reads and writes in the rows from `first` on. `panel` has panel_columns()
  /// columns and holds what `copy_inputs` has put there; null stands for the inputs themselves.
  ConstBlockList<T> inputs(int product, LocalIndex first, LocalIndex rows, const T* panel) const {
    if (pieces_.empty()) {
      const auto at = [&](int v) {
        return v < in_.size() ? input(v, first, rows, panel) : ConstBlockView<T>{nullptr, rows, 0, 0};
      };
      return {at(0), at(1), at(2), at(3), at(4), at(5)};
    }
    const Piece& piece = pieces_[static_cast<std::size_t>(product % groups())];
    const ConstBlockView<T> view = input(piece.view, first, rows, panel).columns(piece.first, piece.count);
    if (product % groups() == 0) return {view};
    return {ConstBlockView<T>(output(product, first, rows)), view};
  }
  BlockView<T> output(int product, LocalIndex first, LocalIndex rows) const {
    const Piece& slab = slabs_[static_cast<std::size_t>(product / groups())];
    return out_[slab.view].row_range(first, rows).columns(slab.first, slab.count);
  }
  /// The coefficients of that product, cut out of those of the whole update.
  SmallMatrix coefficients(int product, const SmallMatrix& whole) const {
    const Piece& slab = slabs_[static_cast<std::size_t>(product / groups())];
    const Piece all{0, 0, in_.cols(), 0};
    const Piece& piece = pieces_.empty() ? all : pieces_[static_cast<std::size_t>(product % groups())];
    const bool adds = product % groups() > 0;
    const int above = adds ? slab.count : 0;
    SmallMatrix result(above + piece.count, slab.count);
    for (int j = 0; j < slab.count; ++j) {
      if (adds) result(j, j) = 1.0;
      std::copy_n(whole.column(slab.column + j) + piece.column, piece.count, result.column(j) + above);
    }
    return result;
  }

  /// Calls copy(from, to) for every input that must be read from `panel`.
  template <class Copy>
  void copy_inputs(LocalIndex first, LocalIndex rows, T* panel, const Copy& copy) const {
    for (int v = 0; v < in_.size(); ++v) {
      const LocalIndex at = panel_at_[static_cast<std::size_t>(v)];
      if (at >= 0)
        copy(in_[v].row_range(first, rows), BlockView<T>{panel + at, rows, in_[v].cols, panel_columns_});
    }
  }

 private:
  static constexpr LocalIndex alignment = 8;  ///< so that pairs of columns stay where pairs belong

  /// Columns first .. first + count - 1 of one view; `column` is the number of the first among those of the list.
  struct Piece {
    int view = 0;
    LocalIndex first = 0;
    LocalIndex count = 0;
    LocalIndex column = 0;
  };

  template <class View>
  static std::vector<Piece> cut(const ViewList<View>& list, LocalIndex most) {
    std::vector<Piece> pieces;
    LocalIndex column = 0;
    for (int v = 0; v < list.size(); ++v) {
      for (LocalIndex first = 0; first < list[v].cols; first += most) {
        const LocalIndex count = std::min(most, list[v].cols - first);
        pieces.push_back({v, first, count, column});
        column += count;
      }
    }
    return pieces;
  }

  int groups() const { return pieces_.empty() ? 1 : static_cast<int>(pieces_.size()); }

  ConstBlockView<T> input(int v, LocalIndex first, LocalIndex rows, const T* panel) const {
    const LocalIndex at = panel_at_[static_cast<std::size_t>(v)];
    if (panel == nullptr || at < 0) return in_[v].row_range(first, rows);
    return {panel + at, rows, in_[v].cols, panel_columns_};
  }

  ConstBlockList<T> in_;
  BlockList<T> out_;
  std::vector<Piece> slabs_;          ///< of the outputs
  std::vector<Piece> pieces_;         ///< of the inputs; none where they are read whole
  std::vector<LocalIndex> panel_at_;  ///< column of the panel where a copy of each input begins, -1: none
  LocalIndex panel_columns_ = 0;
};

}  // namespace block_eigs::cuda
