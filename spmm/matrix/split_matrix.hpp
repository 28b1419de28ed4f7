#pragma once

#include <memory>

#include "spmm/matrix/csr_matrix.hpp"
#include "spmm/parallel/context.hpp"
#include "spmm/parallel/halo_exchange.hpp"
#include "spmm/parallel/halo_plan.hpp"
#include "spmm/types.hpp"

namespace block_eigs {

/// A rank's rows of a distributed matrix, as two CSR matrices on the device: the own columns, and the ghost
/// columns of the boundary rows. What a product of all ranks needs and nothing else: DistributedMatrix adds what
/// solvers ask of a matrix.
template <class T>
class SplitMatrix {
 public:
  /// `own` has all rows of this rank, with columns numbered from 0 as this rank owns them; `boundary` has those
  /// that have ghost columns (its row_map says which), with columns numbered as `plan` receives the ghosts. Not
  /// collective; throws InputError where the arrays are no sparse matrix.
  SplitMatrix(const Context<T>& context, CsrArrays<T> own, CsrArrays<T> boundary, HaloPlan plan,
              const SpmmOptions& options = {});
  /// Of parts that are on the device already, the same as above.
  SplitMatrix(const Context<T>& context, CsrMatrix<T> own, CsrMatrix<T> boundary, HaloPlan plan);

  /// y = A x and what `step` adds, see Kernels::spmm: own columns while the halo is under way, then the ghost
  /// part. Collective.
  void multiply(ConstBlockView<T> x, BlockView<T> y, const ProductStep<T>& step);
  /// Makes room for products with up to `columns` columns. Collective.
  void reserve(LocalIndex columns);

  /// New numbers for the same pattern, see CsrMatrix::set_values. Not collective.
  void set_own_values(const T* values) { own_.set_values(values); }
  void set_boundary_values(const T* values) { boundary_.set_values(values); }

  const CsrMatrix<T>& own() const { return own_; }
  const CsrMatrix<T>& boundary() const { return boundary_; }
  /// Device memory of both parts.
  std::size_t bytes() const { return own_.bytes() + boundary_.bytes(); }

 private:
  Context<T> context_;
  CsrMatrix<T> own_;
  CsrMatrix<T> boundary_;
  std::unique_ptr<HaloExchange<T>> halo_;
};

}  // namespace block_eigs
