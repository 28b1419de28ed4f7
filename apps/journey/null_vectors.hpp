#pragma once

#include <string>
#include <vector>

#include "io/partition/row_order.hpp"
#include "solver/block_cg/block_cg.hpp"
#include "solver/space/block_space.hpp"
#include "spmm/matrix/dense_block.hpp"
#include "spmm/matrix/distributed_matrix.hpp"

// Singular systems that show it before anything is solved: docs/theory.md, "Singular systems".
namespace block_eigs {

/// Null vectors of a symmetric A that are seen in a product: e_i for rows without entries, and the vector of ones
/// on all other rows where all rows add up to zero within rounding errors.
template <class T>
struct NullVectors {
  std::vector<char> empty{};  ///< own rows: whether they have no entry; no elements where no rank has such a row
  bool constant = false;      ///< the vector of ones is one of them

  bool any() const { return constant || !empty.empty(); }
};

/// Takes a product with a block of one or two columns, and none where the diagonal and Gershgorin's bound say
/// that there are no such vectors. Collective; throws RunError on all ranks (memory).
template <class T>
NullVectors<T> find_null_vectors(BlockSpace<T>& space, DistributedMatrix<T>& a);

/// Right-hand sides without what they have outside the range of A.
template <class T>
struct RangePart {
  DenseBlock<T> f{};  ///< without columns where all are in the range within rounding errors
  std::vector<double>
      outside{};                ///< per right-hand side the norm of what was taken away: 0, or what no x can solve
  std::vector<double> norms{};  ///< of the right-hand sides as they were given
  std::vector<double> shares{};    ///< of the tolerance, that are left for the rest; 1 where nothing would do
  std::vector<char> unsolvable{};  ///< whether what was taken away is more than the tolerance and rounding errors
  double tolerance = 0.0;
  std::string remark{};  ///< which rows or sums make some unsolvable; empty where they do not

  bool any() const { return f.cols() > 0; }
};

/// Takes the components along `null` from columns of `f` where they are more than rounding errors:
/// || f - A x || is no less for any x. Also where `tolerance` ||f|| allows for more: iterates would grow along
/// `null` for as long as iterations go on, and rounding errors in A x with them. The remark has
/// rows by their numbers in the file, which `order` knows where they are not those of the space. Collective;
/// throws RunError on all ranks (memory).
template <class T>
RangePart<T> part_in_range(BlockSpace<T>& space, const NullVectors<T>& null, const DenseBlock<T>& f,
                           double tolerance, const RowOrder* order = nullptr);

/// From the result for part.f, to part.shares of the tolerance, to the one for f: solutions are those of least
/// squares, residuals what A x leaves of f, and outcomes what these say. Nothing changes where part.any() is
/// false. Not collective.
template <class T>
void count_in(const RangePart<T>& part, BlockCgResult<T>& result);

}  // namespace block_eigs
