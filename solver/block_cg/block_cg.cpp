#include "solver/block_cg/block_cg.hpp"

#include <algorithm>
#include <utility>

#include "solver/block_cg/bcgrq.hpp"
#include "solver/block_cg/bcgrq_blocks.hpp"

namespace block_eigs {

template <class T>
BlockCgResult<T> block_cg(BlockSpace<T>& space, LinearOperator<T>& a, LinearOperator<T>* preconditioner,
                          const DenseBlock<T>& f, DenseBlock<T> initial, const BlockCgOptions& options,
                          const Observer& observer, const Proceed& proceed) {
  const auto began = Budget::Clock::now();
  bcgrq::check_arguments(space, f, initial, options);
  const LocalIndex width = std::min<LocalIndex>(options.block_size, f.cols());
  bcgrq::State<T> state(space, a, preconditioner, options.tolerance, width);
  const bcgrq::BlockSolver<T> solver{[&](bcgrq::Sides<T>& sides, Budget& budget, const bcgrq::Iterated& iterated) {
                                       bcgrq::solve(state, sides, budget, iterated);
                                     },
                                     [&](bcgrq::Sides<T>& sides) { bcgrq::judge_anew(state, sides); }};
  return bcgrq::solve_in_blocks<T>(space, f, std::move(initial), options, {observer, proceed}, began, solver);
}

template BlockCgResult<float> block_cg(BlockSpace<float>&, LinearOperator<float>&, LinearOperator<float>*,
                                       const DenseBlock<float>&, DenseBlock<float>, const BlockCgOptions&,
                                       const Observer&, const Proceed&);
template BlockCgResult<double> block_cg(BlockSpace<double>&, LinearOperator<double>&, LinearOperator<double>*,
                                        const DenseBlock<double>&, DenseBlock<double>, const BlockCgOptions&,
                                        const Observer&, const Proceed&);

}  // namespace block_eigs
