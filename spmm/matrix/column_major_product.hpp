#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "spmm/parallel/transport.hpp"
#include "spmm/types.hpp"

namespace block_eigs {

class Communicator;
class Partition;

/// Arrays of a sparse matrix that someone else holds: row i has the entries row_offsets[i] .. row_offsets[i + 1]
/// - 1.
template <class Index>
struct BorrowedCsr {
  Index rows = 0;
  const Index* row_offsets = nullptr;
  const Index* columns = nullptr;
  const double* values = nullptr;
};

/// Column-major block in host memory: element (i, j) is data[i + j * leading].
struct ConstColumns {
  const double* data = nullptr;
  std::int64_t leading = 0;
};
struct Columns {
  double* data = nullptr;
  std::int64_t leading = 0;
};

/// C = A B on the host for column-major dense B and C, with the rows of A in CSR arrays that others hold: nothing
/// of A is copied. Columns go by panels of up to 16. The change of layout is part of the product, tile by tile:
/// rows of B become row-major just before the rows of A that first need them, rows of C turn back while they are
/// in cache. The halo moves in whole rows of a panel, packed straight out of the columns, while own rows are
/// multiplied.
template <class Index>
class ColumnMajorProduct {
 public:
  ColumnMajorProduct() = default;
  ColumnMajorProduct(const ColumnMajorProduct&) = delete;
  ColumnMajorProduct& operator=(const ColumnMajorProduct&) = delete;
  virtual ~ColumnMajorProduct() = default;

  /// The arrays that it was made for have moved, or hold other values: same pattern. Not collective.
  virtual void rebind(const BorrowedCsr<Index>& own, const BorrowedCsr<Index>& ghost) = 0;

  /// C = A B for `count` columns, as many on all ranks. B and C must not overlap. Takes memory for a panel at the
  /// first call that needs one so wide. Collective; throws RunError on all ranks where one has not that memory.
  virtual void multiply(ConstColumns b, Columns c, std::int64_t count) = 0;

  /// y = A x, or y = z + A x where z is given; z may be y, x may be neither. Collective.
  virtual void multiply_vector(const double* x, const double* z, double* y) = 0;
};

/// `own`: columns that this rank owns, numbered from 0; `ghost`: the others, numbered by their places in
/// `ghost_columns` (global numbers, ascending). Both hold all rows of this rank, and live as long as the product.
/// `columns` deals the rows of B to ranks; `halo` is the way of ghost rows. For Index std::int32_t and
/// std::int64_t. Collective; throws on all ranks where one fails.
template <class Index>
std::unique_ptr<ColumnMajorProduct<Index>> make_column_major_product(
    const Communicator& comm, const Partition& columns, const BorrowedCsr<Index>& own,
    const BorrowedCsr<Index>& ghost, std::span<const GlobalIndex> ghost_columns, int threads,
    HaloWay halo = HaloWay::automatic);

}  // namespace block_eigs
