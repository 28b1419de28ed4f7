#include "solver/proof/pencil_probe.hpp"

#include <algorithm>
#include <vector>

namespace block_eigs {

namespace {

/// y = D x
template <class T>
class DiagonalOperator final : public LinearOperator<T> {
 public:
  /// Collective.
  DiagonalOperator(const Context<T>& context, std::span<const double> diagonal) : context_(context) {
    context.comm.collectively([&] {
      const std::vector<T> rounded(diagonal.begin(), diagonal.end());
      diagonal_ = Buffer<T>(context.device, rounded.size());
      diagonal_.upload(rounded.data());
    });
    double largest = 0.0;
    for (const double entry : diagonal) largest = std::max(largest, entry);
    norm_ = context.comm.max(largest);
  }

  LocalIndex rows() const override { return static_cast<LocalIndex>(diagonal_.size()); }
  LocalIndex columns() const override { return rows(); }
  void apply(ConstBlockView<T> x, BlockView<T> y) override {
    context_.kernels->scale_rows(diagonal_.data(), x, y);
  }
  double norm_inf() const override { return norm_; }

 private:
  Context<T> context_;
  Buffer<T> diagonal_;
  double norm_ = 0.0;
};

}  // namespace

template <class T>
ProbeResult<T> probe_pencil(BlockSpace<T>& space, const ProbeOperators<T>& operators, const FoundPairs<T>& found,
                            LinearOperator<T>& c, std::span<const double> scale, LinearOperator<T>* preconditioner,
                            const PencilProbeOptions& options) {
  LobpcgOptions lobpcg_options;
  lobpcg_options.pairs = options.pairs;
  lobpcg_options.block_size = default_block_size(options.pairs);
  lobpcg_options.tolerance = 1e-2;
  lobpcg_options.max_iterations = options.iterations;
  lobpcg_options.seed = options.seed;
  lobpcg_options.dense_up_to = 0;
  const LocalIndex deflated = options.beside_found ? found.vectors.cols + found.constraints.cols : 0;
  if (solves_densely(lobpcg_options, space.dimension(), deflated)) return {};
  DiagonalOperator<T> d(space.context(), scale);
  EigenResult<T> first;
  {
    DenseBlock<T> constraints = space.make_block(deflated);
    if (deflated > 0) {
      space.copy(found.vectors, constraints.columns(0, found.vectors.cols));
      space.copy(found.constraints, constraints.columns(found.vectors.cols, found.constraints.cols));
    }
    first = lobpcg<T>(space, c, &d, preconditioner, &constraints, {}, lobpcg_options);
  }
  ProbeResult<T> result = missed_in_span(space, operators, found, std::move(first.eigenvectors));
  for (const LobpcgIteration& entry : first.history) result.products += entry.products;
  return result;
}

template ProbeResult<float> probe_pencil(BlockSpace<float>&, const ProbeOperators<float>&,
                                         const FoundPairs<float>&, LinearOperator<float>&, std::span<const double>,
                                         LinearOperator<float>*, const PencilProbeOptions&);
template ProbeResult<double> probe_pencil(BlockSpace<double>&, const ProbeOperators<double>&,
                                          const FoundPairs<double>&, LinearOperator<double>&,
                                          std::span<const double>, LinearOperator<double>*,
                                          const PencilProbeOptions&);

}  // namespace block_eigs
