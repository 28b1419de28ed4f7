#include "io/generate/rows_in_pieces.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "spmm/first_error.hpp"
#include "spmm/large_vectors.hpp"

namespace block_eigs {

namespace {

constexpr GlobalIndex rows_of_piece = 16384;

/// Copies a piece to where its rows and entries begin, and forgets it.
void place(CsrRows& piece, std::size_t row, Offset entry, CsrRows& out) {
  std::copy(piece.columns.begin(), piece.columns.end(), out.columns.begin() + entry);
  std::copy(piece.values.begin(), piece.values.end(), out.values.begin() + entry);
  for (std::size_t i = 1; i < piece.row_offsets.size(); ++i)
    out.row_offsets[row + i] = entry + piece.row_offsets[i];
  piece = {};
}

}  // namespace

void set_rows_in_pieces(GlobalIndex begin, GlobalIndex end, const AppendRows& append, CsrRows& out) {
  out.row_begin = begin;
  if (end - begin <= rows_of_piece) return append(begin, end, out);
  const auto count = static_cast<std::size_t>((end - begin + rows_of_piece - 1) / rows_of_piece);
  std::vector<CsrRows> pieces(count);
  std::vector<Offset> first(count + 1, 0);
  const auto first_row = [&](std::size_t p) { return begin + static_cast<GlobalIndex>(p) * rows_of_piece; };
  FirstError failure;
#pragma omp parallel for schedule(dynamic)
  for (std::size_t p = 0; p < count; ++p) {
    failure.run([&] {
      pieces[p].row_begin = first_row(p);
      append(first_row(p), std::min(end, first_row(p) + rows_of_piece), pieces[p]);
    });
  }
  failure.rethrow();
  for (std::size_t p = 0; p < count; ++p) first[p + 1] = first[p] + pieces[p].nonzeros();
  out.row_offsets.clear();
  resize_large(out.row_offsets, static_cast<std::size_t>(end - begin) + 1);
  resize_large(out.columns, static_cast<std::size_t>(first[count]));
  resize_large(out.values, static_cast<std::size_t>(first[count]));
#pragma omp parallel for schedule(dynamic)
  for (std::size_t p = 0; p < count; ++p)
    place(pieces[p], static_cast<std::size_t>(first_row(p) - begin), first[p], out);
}

}  // namespace block_eigs
