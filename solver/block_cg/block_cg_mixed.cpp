#include "solver/block_cg/block_cg_mixed.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace block_eigs {

namespace {

constexpr int most_rounds = 8;
/// What a round may be asked for: far enough from where rounding in float parts its recurrence from the truth.
constexpr double deepest = 1e-6;
/// A round that leaves more than this of the worst residual is the last one.
constexpr double least_gain = 0.1;
/// The last round aims a little below the limit.
constexpr double margin = 0.7;

/// As deep as a round may go, or what is missing: a new round begins without search directions, so that few deep
/// rounds take fewer iterations than many equal ones.
double round_tolerance(double ratio) { return std::max(margin / ratio, deepest); }

/// X from rounds in float, and what they took.
class FloatRounds {
 public:
  FloatRounds(BlockSpace<double>& space, LinearOperator<double>& a, LinearOperator<float>& a_float,
              LinearOperator<float>* preconditioner, const DenseBlock<double>& f, const BlockCgOptions& options,
              const Observer& observer)
      : space_(space),
        float_space_(with_precision<float>(space.context()), space.partition()),
        a_(a),
        a_float_(a_float),
        preconditioner_(preconditioner),
        f_(f),
        options_(options),
        observer_(observer),
        residual_(space.make_block(f.cols())),
        scaled_(float_space_.make_block(f.cols())),
        iterations_(static_cast<std::size_t>(f.cols()), 0) {}

  DenseBlock<double> run(DenseBlock<double> x) {
    if (x.cols() != 0 && x.cols() != f_.cols()) return x;  // block_cg says what is wrong
    limits_ = space_.column_norms(f_.view());
    for (double& limit : limits_) limit *= options_.tolerance;
    if (x.cols() == 0) {
      x = space_.make_block(f_.cols());
      space_.kernels().fill(x.view(), 0.0);
      space_.copy(f_.view(), residual_.view());
    } else {
      measure(x);
    }
    norms_ = space_.column_norms(residual_.view());
    for (int round = 0; round < most_rounds; ++round) {
      const double before = worst();
      if (!(before > 1.0) || !std::isfinite(before) || total_ >= options_.max_iterations) break;
      if (!improve(x, before) || worst() > least_gain * before) break;
    }
    return x;
  }

  /// Adds what the rounds took to the result of what came after them.
  void add_to(BlockCgResult<double>& result) {
    result.total_iterations += total_;
    result.solve_seconds += seconds_;
    for (std::size_t j = 0; j < iterations_.size(); ++j) result.iterations[j] += iterations_[j];
    for (BlockCgIteration& entry : result.history) entry.seconds += seconds_;
    result.history.insert(result.history.begin(), history_.begin(), history_.end());
  }
  int total() const { return total_; }
  double seconds() const { return seconds_; }

 private:
  double worst() const {
    double ratio = 0.0;
    for (std::size_t j = 0; j < norms_.size(); ++j) {
      if (limits_[j] > 0.0) ratio = std::max(ratio, norms_[j] / limits_[j]);
    }
    return ratio;
  }

  /// residual = f - A x
  void measure(const DenseBlock<double>& x) {
    const auto step = ProductStep<double>::residual(std::as_const(f_).view());
    space_.apply_step(a_, x.view(), step, residual_.view(), residual_.view());
  }

  /// One round. False where it did harm; then it is undone.
  bool improve(DenseBlock<double>& x, double before) {
    std::vector<double> inverse;
    for (std::size_t j = 0; j < norms_.size(); ++j)
      inverse.push_back(norms_[j] > limits_[j] ? 1.0 / norms_[j] : 0.0);
    space_.kernels().convert(std::as_const(residual_).view(), inverse, scaled_.view());
    const double tolerance = round_tolerance(before);
    const BlockCgOptions options{tolerance, options_.max_iterations - total_, options_.block_size};
    const BlockCgResult<float> round =
        block_cg<float>(float_space_, a_float_, preconditioner_, scaled_, {}, options,
                        [&](const IterationReport& inner) { tell(inner, before * tolerance); });
    add_history(round);
    add(round.solution, 1.0, x);
    measure(x);
    const std::vector<double> after = space_.column_norms(std::as_const(residual_).view());
    for (std::size_t j = 0; j < after.size(); ++j) {
      if (after[j] <= std::max(norms_[j], limits_[j])) continue;
      add(round.solution, -1.0, x);
      return false;
    }
    norms_ = after;
    return true;
  }

  /// x += sign e diag(norms), by way of the residual's memory.
  void add(const DenseBlock<float>& e, double sign, DenseBlock<double>& x) {
    float_space_.kernels().convert(e.view(), norms_, residual_.view());
    space_.kernels().axpby(sign, std::as_const(residual_).view(), 1.0, x.view());
  }

  void tell(const IterationReport& inner, double scale) const {
    if (!observer_) return;
    IterationReport report = inner;
    report.iteration += total_;
    report.worst *= scale;
    report.converged = 0;
    report.seconds += seconds_;
    observer_(report);
  }

  void add_history(const BlockCgResult<float>& round) {
    for (BlockCgIteration entry : round.history) {
      for (std::size_t j = 0; j < norms_.size(); ++j) entry.residual_norms[j] *= norms_[j];
      entry.seconds += seconds_;
      history_.push_back(std::move(entry));
    }
    total_ += round.total_iterations;
    seconds_ += round.setup_seconds + round.solve_seconds;
    for (std::size_t j = 0; j < iterations_.size(); ++j) iterations_[j] += round.iterations[j];
  }

  BlockSpace<double>& space_;
  BlockSpace<float> float_space_;
  LinearOperator<double>& a_;
  LinearOperator<float>& a_float_;
  LinearOperator<float>* preconditioner_;
  const DenseBlock<double>& f_;
  const BlockCgOptions& options_;
  const Observer& observer_;
  DenseBlock<double> residual_;
  DenseBlock<float> scaled_;
  std::vector<double> limits_;
  std::vector<double> norms_;
  std::vector<int> iterations_;
  std::vector<BlockCgIteration> history_;
  int total_ = 0;
  double seconds_ = 0.0;
};

}  // namespace

BlockCgResult<double> block_cg_mixed(BlockSpace<double>& space, LinearOperator<double>& a,
                                     LinearOperator<double>* preconditioner, LinearOperator<float>& a_float,
                                     LinearOperator<float>* preconditioner_float, const DenseBlock<double>& f,
                                     DenseBlock<double> initial, const BlockCgOptions& options,
                                     const Observer& observer) {
  DenseBlock<double> x;
  FloatRounds rounds(space, a, a_float, preconditioner_float, f, options, observer);
  x = rounds.run(std::move(initial));
  BlockCgOptions rest = options;
  rest.max_iterations = options.max_iterations - rounds.total();
  BlockCgResult<double> result = block_cg<double>(space, a, preconditioner, f, std::move(x), rest,
                                                  continued(observer, rounds.total(), rounds.seconds()));
  rounds.add_to(result);
  return result;
}

}  // namespace block_eigs
