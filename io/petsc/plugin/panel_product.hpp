#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "io/petsc/plugin/panel_halo.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"
#include "spmm/types.hpp"

namespace block_eigs::petsc {

/// Arrays of a sparse matrix that someone else holds. `Index` is PETSc's index type.
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

/// C = A B on the host for column-major dense B and C, as PETSc has them, with A in PETSc's own CSR arrays:
/// nothing of A is copied. Columns go by panels of up to 16. The change of layout is part of the product, tile by
/// tile: rows of B become row-major just before the rows of A that first need them, rows of C turn back while they
/// are in cache. The halo moves in whole rows of a panel, packed straight out of the columns, while own rows are
/// multiplied.
template <class Index>
class PanelProduct {
 public:
  /// `own`: columns that this rank owns, numbered from 0; `ghost`: the others, numbered by their places in
  /// `ghost_columns` (global numbers, ascending). Both hold all rows of this rank. `columns` deals the rows of B
  /// to ranks. Collective.
  PanelProduct(const Communicator& comm, const Partition& columns, const BorrowedCsr<Index>& own,
               const BorrowedCsr<Index>& ghost, std::span<const GlobalIndex> ghost_columns, int threads);
  ~PanelProduct();

  /// The arrays given to the constructor have moved, or hold other values: same pattern. Not collective.
  void rebind(const BorrowedCsr<Index>& own, const BorrowedCsr<Index>& ghost);

  /// C = A B for `count` columns. B and C must not overlap. Collective.
  void multiply(ConstColumns b, Columns c, std::int64_t count);

  /// y = A x, or y = z + A x where z is given; z may be y, x may be neither. Collective.
  void multiply_vector(const double* x, const double* z, double* y);

 private:
  void multiply_panel(ConstColumns b, Columns c, int count);
  template <int width>
  void multiply_own(ConstColumns b, Columns c, int count);
  std::int64_t window_rows(int team) const;
  template <int width>
  void add_ghosts(const double* ghosts, Columns c, int count) const;

  BorrowedCsr<Index> own_;
  BorrowedCsr<Index> ghost_;
  std::unique_ptr<PanelHalo> halo_;
  std::vector<Index> boundary_rows_;  ///< rows with ghost columns
  std::vector<Index> first_needed_;   ///< rows of B that steps from this one on read: first_needed_[s] and up
  std::vector<Index> end_needed_;     ///< rows of B that steps up to this one read: below end_needed_[s]
  std::vector<double>
      window_;  ///< rows of the panel of B that are turned and still needed, row i at i modulo its height
  Index own_columns_ = 0;
  int threads_ = 1;
};

}  // namespace block_eigs::petsc
