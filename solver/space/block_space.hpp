#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "solver/space/replicas.hpp"
#include "solver/space/sums.hpp"
#include "spmm/device/buffer.hpp"
#include "spmm/device/kernels.hpp"
#include "spmm/matrix/dense_block.hpp"
#include "spmm/matrix/linear_operator.hpp"
#include "spmm/parallel/context.hpp"
#include "spmm/parallel/partition.hpp"
#include "spmm/small_matrix.hpp"

namespace block_eigs {

/// The space R^n with its vectors dealt to ranks by rows: blocks of vectors, their inner products over all
/// ranks, and small dense work done once for all. A solver communicates through this class alone. Member
/// functions that sum over rows are collective, and their results are bit-equal on all ranks. Blocks may be
/// without columns: nothing is computed then.
template <class T>
class BlockSpace {
 public:
  BlockSpace(Context<T> context, Partition partition)
      : context_(std::move(context)), partition_(std::move(partition)) {}

  /// Rows over all ranks, but for those that are left out.
  GlobalIndex dimension() const { return partition_.rows() - left_out_of_all_; }
  LocalIndex local_rows() const { return partition_.size(context_.comm.rank()); }
  GlobalIndex first_row() const { return partition_.begin(context_.comm.rank()); }
  const Partition& partition() const { return partition_; }
  const Context<T>& context() const { return context_; }
  const Communicator& comm() const { return context_.comm; }
  Kernels<T>& kernels() { return *context_.kernels; }
  Profile& profile() { return *context_.profile; }
  /// Whether the run is to end early, as all ranks have agreed with the last sum. Not collective.
  bool to_end_early() const { return context_.stop->agreed(); }
  /// The same after asking all ranks, for long stretches without sums. Collective.
  bool asks_to_end_early();

  /// From here on the space is that of the vectors that vanish in these of the calling rank's rows, ascending, for
  /// operators that take such vectors to such vectors. Collective.
  void leave_out(std::vector<LocalIndex> rows);
  const std::vector<LocalIndex>& left_out() const { return left_out_; }
  /// Zeros in the rows that are left out, for what comes from outside of the space. Not collective.
  void clear_left_out(BlockView<T> x);

  /// n x cols, contents undefined. Collective: throws on all ranks when one is out of memory.
  DenseBlock<T> make_block(LocalIndex cols);

  /// Makes sums over all ranks of all that was added, in one message; none where nothing was. What this rank has
  /// solved for itself is compared on the way, and whether a rank wants to end early. Collective; throws RunError
  /// on all ranks where that differs.
  void sum(Sums& sums);

  /// result = [left]^T [right] over all ranks. Collective; with `sums` it is not, and complete when they are.
  void gram(const ConstBlockList<T>& left, const ConstBlockList<T>& right, SmallMatrix& result);
  void gram(const ConstBlockList<T>& left, const ConstBlockList<T>& right, SmallMatrix& result, Sums& sums);
  /// [out] = [in] coefficients. Not collective.
  void update(const ConstBlockList<T>& in, const SmallMatrix& coefficients, const BlockList<T>& out);
  /// update, then `scaling` and gram of what there is by then, see Kernels::update_gram. Collective with
  /// sum(sums).
  void update_gram(const ConstBlockList<T>& in, const SmallMatrix& coefficients, const BlockList<T>& out,
                   const RowScaling<T>& scaling, const ConstBlockList<T>& left, const ConstBlockList<T>& right,
                   SmallMatrix& result, Sums& sums);
  /// y = A x and products = x^T y, A being symmetric, in one pass where `a` can. Collective; the products are
  /// complete with `sums`.
  void apply_gram(LinearOperator<T>& a, ConstBlockView<T> x, BlockView<T> y, SmallMatrix& products, Sums& sums);
  /// r = ax - bx diag(lambda); the norms of its columns over all ranks. Collective; with `sums` as gram.
  std::vector<double> residual(ConstBlockView<T> ax, ConstBlockView<T> bx, std::span<const double> lambda,
                               BlockView<T> r);
  void residual(ConstBlockView<T> ax, ConstBlockView<T> bx, std::span<const double> lambda, BlockView<T> r,
                std::vector<double>& norms, Sums& sums);
  /// update, then residual of the first columns of out[0], see Kernels::update_residual; `norms` with `sums`. Not
  /// collective.
  void update_residual(const ConstBlockList<T>& in, const SmallMatrix& coefficients, const BlockList<T>& out,
                       ConstBlockView<T> bx, std::span<const double> lambda, BlockView<T> r,
                       std::vector<double>& norms, Sums& sums);
  /// r = A x - x diag(lambda) by a product with A; `ax` as for apply_step. Collective.
  void residual_by_product(LinearOperator<T>& a, ConstBlockView<T> x, std::span<const double> lambda,
                           BlockView<T> ax, BlockView<T> r);
  /// x_j^T y_j of every column over all ranks. Collective; with `sums` as gram.
  std::vector<double> column_dots(ConstBlockView<T> x, ConstBlockView<T> y);
  void column_dots(ConstBlockView<T> x, ConstBlockView<T> y, std::vector<double>& dots, Sums& sums);
  /// Euclidean norms of the columns over all ranks. Collective; with `sums` as gram.
  std::vector<double> column_norms(ConstBlockView<T> x);
  void column_norms(ConstBlockView<T> x, std::vector<double>& norms, Sums& sums);
  void copy(ConstBlockView<T> x, BlockView<T> y);
  /// Column j of y = column columns[j] of x.
  void copy_columns(ConstBlockView<T> x, std::span<const int> columns, BlockView<T> y);
  /// Column j of x becomes what column order[j] was; `order` has each of them once. Not collective.
  void permute_columns(BlockView<T> x, std::span<const std::size_t> order);
  /// y = step.product A x + ... as LinearOperator::apply_step, in one pass where `a` can, else by way of `ax`.
  /// Collective.
  void apply_step(LinearOperator<T>& a, ConstBlockView<T> x, const ProductStep<T>& step, BlockView<T> ax,
                  BlockView<T> y);
  /// The same numbers for any number of ranks; zeros in the rows that are left out.
  void fill_random(BlockView<T> y, std::uint64_t seed);

  /// Runs `step` on rank 0 and hands `results` to all ranks; `step` gives each its final shape, and an
  /// exception of it is thrown on all. For what is too large to be done by every rank. Collective.
  void on_root(const std::function<void()>& step, std::initializer_list<SmallMatrix*> results);
  /// Small dense problems, from numbers that all ranks have, `results` as for on_root: on every rank where their
  /// arithmetic gives the same bits (see Replicas), without a message; else on_root, because LAPACK need not
  /// return the same bits on different machines, nor eigenvectors of the same sign. Which of them does not change,
  /// so that `step` may change what no other rank is told of. Collective; throws what `step` throws, memory apart
  /// on all ranks.
  void solve_small(const std::function<void()>& step, std::initializer_list<SmallMatrix*> results);
  /// From now on small problems are solved on rank 0 alone, as where ranks differ. For tests; on all ranks or
  /// none.
  void solve_on_root_alone() { replicates_ = false; }

 private:
  bool replicates();

  Context<T> context_;
  Partition partition_;
  std::optional<bool> replicates_;  ///< whether small problems are solved on every rank, once that is known
  Replicas replicas_;
  std::vector<LocalIndex> left_out_;
  GlobalIndex left_out_of_all_ = 0;
  std::shared_ptr<const Buffer<T>> inside_;  ///< 1, or 0 in the rows that are left out; null where none is
};

/// The same space for vectors in float. Collective.
BlockSpace<float> in_float(const BlockSpace<double>& space);

}  // namespace block_eigs
