#include "apps/input/float_twin.hpp"

#include <utility>

namespace block_eigs {

FloatTwin make_float_twin(Problem<double>& problem, const RunConfig& config,
                          const PreconditionerConfig& preconditioner) {
  FloatTwin twin{{with_precision<float>(problem.context), problem.partition}};
  twin.problem.a = std::make_unique<DistributedMatrix<float>>(twin.problem.context, std::move(problem.a_rows),
                                                              problem.partition, problem.partition, config.spmm);
  twin.preconditioner = make_preconditioner(twin.problem, config.matrix, preconditioner);
  return twin;
}

}  // namespace block_eigs
