#include "apps/input/operators.hpp"

#include <type_traits>
#include <utility>

#include "apps/input/near_null_space.hpp"

namespace block_eigs {

namespace {

FloatCopy copy_in_float(Problem<double>& problem, const RunConfig& config,
                        const PreconditionerConfig& preconditioner) {
  FloatCopy copy{{with_precision<float>(problem.context), problem.partition}};
  copy.problem.order = problem.order;
  copy.problem.a = in_float(copy.problem.context, *problem.a, config.spmm);
  copy.preconditioner = make_preconditioner(copy.problem, config.matrix, preconditioner);
  return copy;
}

}  // namespace

template <class T>
void Operators<T>::take(std::unique_ptr<LinearOperator<T>> others) {
  in_float = {};
  float_copy.reset();
  preconditioner.operation = std::move(others);
}

template <class T>
std::size_t Operators<T>::bytes() const {
  std::size_t sum = preconditioner.operation ? preconditioner.operation->bytes() : 0;
  if (!float_copy) return sum;
  sum += float_copy->problem.a->bytes();
  return sum + (float_copy->preconditioner.operation ? float_copy->preconditioner.operation->bytes() : 0);
}

template <class T>
std::size_t Operators<T>::work_bytes(LocalIndex cols) const {
  std::size_t sum = preconditioner.operation ? preconditioner.operation->work_bytes(cols) : 0;
  if (!float_copy) return sum;
  sum += float_copy->problem.a->work_bytes(cols);
  return sum + (float_copy->preconditioner.operation ? float_copy->preconditioner.operation->work_bytes(cols) : 0);
}

template <class T>
void Operators<T>::limit_work_space(LocalIndex columns) {
  if (preconditioner.operation) preconditioner.operation->limit_work_space(columns);
  if (float_copy && float_copy->preconditioner.operation)
    float_copy->preconditioner.operation->limit_work_space(columns);
}

template <class T>
ReadOptions read_options(const Context<T>& context, const RunConfig& config,
                         const PreconditionerConfig& preconditioner, bool in_float, GlobalIndex rows) {
  const bool levels_in_float =
      preconditioner.type == PreconditionerType::automatic ||
      (preconditioner.type == PreconditionerType::amg && preconditioner.amg.precision == Precision::float32);
  return {config.spmm, needs_rows<T>(preconditioner), needs_mass_rows(preconditioner),
          unknowns_per_node(context.comm, preconditioner, config.matrix, rows), in_float || levels_in_float};
}

template <class T>
Operators<T> make_operators(Problem<T>& problem, const RunConfig& config,
                            const PreconditionerConfig& preconditioner, bool in_float) {
  Operators<T> operators;
  operators.preconditioner = make_preconditioner(problem, config.matrix, preconditioner);
  if constexpr (std::is_same_v<T, double>) {
    if (!in_float) return operators;
    operators.in_float = operators.preconditioner.in_float;
    // Multigrid has A in float among its levels, if it has levels at all.
    if (preconditioner.type == PreconditionerType::amg) return operators;
    operators.float_copy = std::make_unique<FloatCopy>(copy_in_float(problem, config, preconditioner));
    operators.in_float = {operators.float_copy->problem.a.get(),
                          operators.float_copy->preconditioner.operation.get()};
  }
  return operators;
}

template ReadOptions read_options(const Context<float>&, const RunConfig&, const PreconditionerConfig&, bool,
                                  GlobalIndex);
template ReadOptions read_options(const Context<double>&, const RunConfig&, const PreconditionerConfig&, bool,
                                  GlobalIndex);
template struct Operators<float>;
template struct Operators<double>;
template Operators<float> make_operators(Problem<float>&, const RunConfig&, const PreconditionerConfig&, bool);
template Operators<double> make_operators(Problem<double>&, const RunConfig&, const PreconditionerConfig&, bool);

}  // namespace block_eigs
