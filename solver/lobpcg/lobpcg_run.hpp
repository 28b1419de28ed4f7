#pragma once

#include <algorithm>
#include <chrono>
#include <limits>
#include <vector>

#include "solver/lobpcg/lobpcg.hpp"
#include "solver/lobpcg/lobpcg_state.hpp"
#include "solver/lobpcg/residual_test.hpp"
#include "solver/small/rayleigh_ritz.hpp"

namespace block_eigs {

/// The present Ritz pairs, leading ones first.
struct RitzPairs {
  std::vector<double> values;
  std::vector<double> residuals;
  std::vector<double> image_norms;  ///< ||Bx||, 1 where B is the identity
  std::vector<double> norms;        ///< ||x||

  void append(const std::vector<double>& more_values, const std::vector<double>& more_residuals,
              const std::vector<double>& more_image_norms, const std::vector<double>& more_norms) {
    values.insert(values.end(), more_values.begin(), more_values.end());
    residuals.insert(residuals.end(), more_residuals.begin(), more_residuals.end());
    image_norms.insert(image_norms.end(), more_image_norms.begin(), more_image_norms.end());
    norms.insert(norms.end(), more_norms.begin(), more_norms.end());
  }
  RitzPairs in_order(const std::vector<int>& order) const {
    RitzPairs sorted;
    for (const int i : order) {
      const auto j = static_cast<std::size_t>(i);
      sorted.append({values[j]}, {residuals[j]}, {image_norms[j]}, {norms[j]});
    }
    return sorted;
  }
  void drop_leading(int count) {
    for (auto* list : {&values, &residuals, &image_norms, &norms})
      list->erase(list->begin(), list->begin() + count);
  }
};

/// One run of lobpcg(): its blocks, its numbers, and the steps of the algorithm in the order in which they are
/// taken. lobpcg_run.cpp holds the iteration, lobpcg_conclude.cpp the final check, lobpcg_draft.cpp the run that
/// is not checked.
template <class T>
class LobpcgRun {
 public:
  LobpcgRun(BlockSpace<T>& space, LinearOperator<T>& a, LinearOperator<T>* b, LinearOperator<T>* preconditioner,
            const LobpcgOptions& options, const Observer& observer, int width, int constraints)
      : space_(space),
        a_(a),
        b_(b),
        preconditioner_(preconditioner),
        options_(options),
        observer_(observer),
        width_(width),
        constraints_(constraints),
        guard_(std::max(width - options.pairs, 0)),
        state_(space, width, constraints + options.pairs + width, b != nullptr),
        test_(options, 1.0, 1.0, 0.0) {
    // A window narrower than the pairs asked for still wants guards behind the last of them.
    if (width <= options.pairs) guard_ = std::min(width - 1, default_block_size(width) - width);
  }

  EigenResult<T> run(const DenseBlock<T>* constraints, DenseBlock<T> initial);
  /// From the vectors and search directions of a draft.
  EigenResult<T> run_on(const DenseBlock<T>* constraints, DenseBlock<T> vectors, DenseBlock<T> directions);

  /// Iterates as far as the recursion goes in this precision, for another run to go on with; nothing is verified.
  /// The result has the history and no pairs.
  EigenResult<T> draft(const DenseBlock<T>* constraints, DenseBlock<T> initial);
  /// After draft(): the vectors it came to, pairs before guard vectors, and its search directions.
  ConstBlockView<T> vectors() const {
    return state_.kept().columns(constraints_, state_.kept_columns() - constraints_);
  }
  ConstBlockView<T> directions() const { return state_.p.view(); }

 private:
  void take_constraints(const DenseBlock<T>& constraints);
  void begin(const DenseBlock<T>* constraints, DenseBlock<T> initial);
  EigenResult<T> iterate_and_conclude();
  void fill_start_block(const DenseBlock<T>& initial);
  void take_directions(const DenseBlock<T>& directions);
  void start();
  void filter_start_block();
  void filter(double lower, double upper, int degree);
  int missing_degree(double cut, double upper) const;
  void orthonormalize_start_block(LocalIndex good);
  void iterate();
  void expand(int refill);
  double acceptable_pivot() const;
  bool rayleigh_ritz(int wanted);
  RitzSolution project(int wanted, double smallest_pivot);
  void apply_ritz(const RitzSolution& solution);
  void refresh();
  void check_preconditioner();
  void lock(int count);
  int leading_done() const;
  Outcome judge(int j) const;
  double ratio(int j) const;
  void measure_norms();
  double worst_ratio() const;
  bool stalled();
  void record(int columns);
  bool conclude();
  void gather_basis();
  void verify();
  void reopen(std::vector<int> failed);
  void finish();

  /// Columns of X that get directions in W: all, or none of the guard vectors while these rest.
  int working() const {
    const bool rest = continued_ && result_.iterations < guards_rest;
    return rest ? std::min(active(), remaining()) : active();
  }
  int active() const { return state_.x.cols(); }
  int locked() const { return static_cast<int>(locked_.values.size()); }
  int remaining() const { return options_.pairs - locked(); }
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

  using Clock = std::chrono::steady_clock;

  /// Residuals of a draft are those of its recursion, which fall below the rounding errors of the vectors: to so
  /// much of the accuracy limit they do it safely.
  static constexpr double draft_accuracy = 0.3;
  /// After a draft guard vectors stay as they are for so many iterations: that they separate the wanted vectors
  /// from the others is what they are for, and for that they need not be better than a draft.
  static constexpr int guards_rest = 12;
  /// acceptable_pivot() of a draft: orthogonality to four digits is enough for it.
  static constexpr double draft_pivot = 0.01;

  BlockSpace<T>& space_;
  LinearOperator<T>& a_;
  LinearOperator<T>* b_;
  LinearOperator<T>* preconditioner_;
  LobpcgOptions options_;
  const Observer& observer_;
  int width_;
  int constraints_;
  int guard_;
  LobpcgState<T> state_;
  ResidualTest test_;
  RitzPairs ritz_;
  RitzPairs locked_;
  SmallMatrix projected_p_;
  std::vector<int> order_;  ///< columns behind the constraints in the order of ritz_, after verify()
  EigenResult<T> result_;
  Clock::time_point began_ = Clock::now();
  bool draft_ = false;                                           ///< in draft()
  bool continued_ = false;                                       ///< in run_on()
  double best_ratio_ = std::numeric_limits<double>::infinity();  ///< least worst_ratio() that counted as progress
  int since_progress_ = 0;
  bool near_rounding_ = false;  ///< some residual has come down to what rounding leaves
  int since_refresh_ = 0;
  int rounds_ = 0;
  bool exhausted_ = false;
};

}  // namespace block_eigs
