#include "solver/block_cg/block_cg.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "solver/block_cg/bcgrq.hpp"
#include "solver/block_cg/bcgrq_solvers.hpp"

namespace block_eigs {

namespace bcgrq {

template <class T>
BlockSolver<T> plain_solver(BlockSpace<T>& space, LinearOperator<T>& a, LinearOperator<T>* preconditioner,
                            double tolerance, LocalIndex width) {
  const auto state = std::make_shared<State<T>>(space, a, preconditioner, tolerance, width);
  return {[state](Sides<T>& sides, Budget& budget, const Iterated& iterated) {
            bcgrq::solve(*state, sides, budget, iterated);
          },
          [state](Sides<T>& sides) { judge_anew(*state, sides); }};
}

template BlockSolver<float> plain_solver(BlockSpace<float>&, LinearOperator<float>&, LinearOperator<float>*,
                                         double, LocalIndex);
template BlockSolver<double> plain_solver(BlockSpace<double>&, LinearOperator<double>&, LinearOperator<double>*,
                                          double, LocalIndex);

}  // namespace bcgrq

template <class T>
BlockCgResult<T> block_cg(BlockSpace<T>& space, LinearOperator<T>& a, LinearOperator<T>* preconditioner,
                          const DenseBlock<T>& f, DenseBlock<T> initial, const BlockCgOptions& options,
                          const Observer& observer, const Proceed& proceed) {
  const auto began = Budget::Clock::now();
  bcgrq::check_arguments(space, f, initial, options);
  const LocalIndex width = std::min<LocalIndex>(options.block_size, f.cols());
  const auto solver = bcgrq::plain_solver(space, a, preconditioner, options.tolerance, width);
  return bcgrq::solve_in_blocks<T>(space, f, std::move(initial), options, {observer, proceed}, began, solver);
}

template BlockCgResult<float> block_cg(BlockSpace<float>&, LinearOperator<float>&, LinearOperator<float>*,
                                       const DenseBlock<float>&, DenseBlock<float>, const BlockCgOptions&,
                                       const Observer&, const Proceed&);
template BlockCgResult<double> block_cg(BlockSpace<double>&, LinearOperator<double>&, LinearOperator<double>*,
                                        const DenseBlock<double>&, DenseBlock<double>, const BlockCgOptions&,
                                        const Observer&, const Proceed&);

}  // namespace block_eigs
