#pragma once

#include <chrono>
#include <vector>

#include "solver/lobpcg.hpp"
#include "solver/lobpcg_state.hpp"
#include "solver/rayleigh_ritz.hpp"
#include "solver/residual_test.hpp"

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
/// taken. lobpcg.cpp holds the iteration, lobpcg_conclude.cpp the final check.
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

 private:
  void take_constraints(const DenseBlock<T>& constraints);
  void fill_start_block(const DenseBlock<T>& initial);
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
  void record(int columns);
  bool conclude();
  void gather_basis();
  void verify();
  void reopen(std::vector<int> failed);
  void finish();

  int active() const { return state_.x.cols(); }
  int locked() const { return static_cast<int>(locked_.values.size()); }
  int remaining() const { return options_.pairs - locked(); }
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

  using Clock = std::chrono::steady_clock;

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
  bool near_rounding_ = false;  ///< some residual has come down to what rounding leaves
  int since_refresh_ = 0;
  int rounds_ = 0;
  bool exhausted_ = false;
};

}  // namespace block_eigs
