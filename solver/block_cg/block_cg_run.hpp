#pragma once

#include <functional>
#include <string>
#include <vector>

#include "solver/block_cg/block_cg.hpp"
#include "solver/block_cg/block_cg_recurrence.hpp"
#include "solver/block_cg/linear_residual_test.hpp"
#include "solver/space/panel.hpp"

namespace block_eigs {

/// One right-hand side at work.
struct BlockCgColumn {
  double rhs_norm = 0.0;        ///< ||f||
  double limit = 0.0;           ///< tolerance ||f||
  double recursive_norm = 0.0;  ///< of the residual, by the recurrence
  double true_norm = 0.0;       ///< ||f - A x||, when last computed
  double best_norm = 0.0;       ///< true_norm of the iterate that is kept as the best
  double solution_norm = 0.0;   ///< ||x||, when last computed
  int iterations = 0;
  bool active = false;
  bool unsolvable = false;  ///< recognised as outside the range of A
  Outcome outcome = Outcome::not_converged;
};

/// Solves one block of right-hand sides after another in the same work space: the steps of BCGrQ in the order in
/// which they are taken. block_cg_run.cpp holds the iteration, block_cg_breakdown.cpp what is done where A is not
/// positive definite, block_cg_conclude.cpp the comparison with the true residuals.
template <class T>
class BlockCgRun {
 public:
  /// Room for `width` right-hand sides. `iterated(active columns)` is called after every iteration. Collective.
  BlockCgRun(BlockSpace<T>& space, LinearOperator<T>& a, LinearOperator<T>* preconditioner,
             const BlockCgOptions& options, LocalIndex width, std::function<void(int)> iterated);

  /// f and x: n x as many columns as `columns`, at most `width`; their rhs_norm is given. x holds the initial
  /// guess, zero where `zero_guess`, and then the solution. Collective.
  void solve(ConstBlockView<T> f, BlockView<T> x, bool zero_guess, std::vector<BlockCgColumn>& columns);

  int iterations() const { return iterations_; }
  /// What kept right-hand sides of the last block from being solved; empty where they are.
  const std::string& trouble() const { return trouble_; }

 private:
  void start();
  void iterate();
  bool take_step();
  void apply_preconditioner();
  void factorise();
  void adopt(const SmallMatrix& norms);
  void update_directions(const SmallMatrix& update);

  bool examine(const SmallMatrix& products);
  void give_up_on_all(const std::string& trouble);
  void give_up_along(const SmallMatrix& components, double curvature);
  void give_up_what_grows();
  void give_up(BlockCgColumn& column, const std::string& sign);

  bool parted_from_truth();
  bool conclude();
  void residual_into(BlockView<T> r);
  void measure_truth();
  void measure_solutions();
  void explain(const std::string& trouble);
  void keep_best();
  bool restore_best();
  LinearResidualTest test() const;
  double accuracy_limit(const BlockCgColumn& column) const;
  bool beyond_reach(const BlockCgColumn& column) const;
  Outcome judge(const BlockCgColumn& column) const;

  bool any_active() const;
  LocalIndex sides() const { return x_.cols; }
  BlockView<T> z() const { return preconditioner_ != nullptr ? z_.view() : q_.view(); }
  std::vector<BlockCgColumn>& columns() { return *columns_; }

  BlockSpace<T>& space_;
  LinearOperator<T>& a_;
  LinearOperator<T>* preconditioner_;
  BlockCgOptions options_;
  LocalIndex width_;
  std::function<void(int)> iterated_;
  double norm_a_;
  bool norm_known_;
  BlockCgRecurrence recurrence_;
  Panel<T> q_, z_, s_, as_;
  DenseBlock<T> best_;

  ConstBlockView<T> f_;
  BlockView<T> x_;
  std::vector<BlockCgColumn>* columns_ = nullptr;
  SmallMatrix residual_update_;
  std::string trouble_;
  bool best_is_zero_ = false;
  bool broken_ = false;    ///< this round cannot go on
  bool hopeless_ = false;  ///< nor can another
  bool shed_ = false;      ///< right-hand sides were given up in this round
  int iterations_ = 0;
  int rounds_ = 0;
  int since_start_ = 0;
};

}  // namespace block_eigs
