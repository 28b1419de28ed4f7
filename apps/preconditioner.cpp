#include "apps/preconditioner.hpp"

#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "apps/near_null_space.hpp"
#include "io/petsc/petsc_hierarchy.hpp"
#include "io/petsc/petsc_preconditioner.hpp"
#include "solver/preconditioner/amg.hpp"
#include "solver/preconditioner/cast_operator.hpp"
#include "solver/preconditioner/chebyshev.hpp"
#include "solver/preconditioner/jacobi.hpp"
#include "solver/preconditioner/smoothed_aggregation.hpp"

namespace block_eigs {

namespace {

/// A float V-cycle lent to a double solver.
class FloatAmg final : public LinearOperator<double> {
 public:
  FloatAmg(const Context<double>& context, GridHierarchy levels, const AmgOptions& options)
      : inner_(with_precision<float>(context), std::move(levels), options), outer_(context, inner_) {}

  LocalIndex rows() const override { return outer_.rows(); }
  LocalIndex columns() const override { return outer_.columns(); }
  void apply(ConstBlockView<double> x, BlockView<double> y) override { outer_.apply(x, y); }

 private:
  Amg<float> inner_;
  CastOperator outer_;
};

template <class T>
GridHierarchy build_levels(Problem<T>& problem, const MatrixConfig& matrix, const PreconditionerConfig& config) {
  const Communicator& comm = problem.context.comm;
  NearNullSpace space = read_near_null_space(comm, config, matrix, problem.partition);
  if (config.amg.method == AmgMethod::aggregation)
    return smoothed_aggregation(comm, std::move(problem.a_rows), problem.partition, space);
  const CsrRows rows = std::move(problem.a_rows);
  return petsc::build_hierarchy(comm, rows, problem.partition,
                                {name_of(config.amg.method), std::move(space), config.options});
}

template <class T>
std::unique_ptr<LinearOperator<T>> make_amg(Problem<T>& problem, const MatrixConfig& matrix,
                                            const PreconditionerConfig& config) {
  GridHierarchy levels = build_levels(problem, matrix, config);
  if constexpr (std::is_same_v<T, double>) {
    if (config.amg.precision == Precision::float32)
      return std::make_unique<FloatAmg>(problem.context, std::move(levels), config.amg.cycle);
  }
  return std::make_unique<Amg<T>>(problem.context, std::move(levels), config.amg.cycle);
}

/// Those that need nothing but what the matrix has in store. Not collective.
template <class T>
std::unique_ptr<LinearOperator<T>> make_polynomial(const Problem<T>& problem, const PreconditionerConfig& config) {
  DistributedMatrix<T>& a = *problem.a;
  if (config.type == PreconditionerType::jacobi) return std::make_unique<Jacobi<T>>(problem.context, a.diagonal());
  if (config.type == PreconditionerType::none) return nullptr;
  const double bound = a.scaled_gershgorin_bound();
  return std::make_unique<Chebyshev<T>>(problem.context, a, a.diagonal(), bound > 0.0 ? bound : 1.0,
                                        config.chebyshev);
}

}  // namespace

bool needs_rows(const PreconditionerConfig& config) {
  return config.type == PreconditionerType::amg || config.type == PreconditionerType::petsc;
}

template <class T>
std::unique_ptr<LinearOperator<T>> make_preconditioner(Problem<T>& problem, const MatrixConfig& matrix,
                                                       const PreconditionerConfig& config) {
  if (config.type == PreconditionerType::amg) return make_amg(problem, matrix, config);
  if (config.type == PreconditionerType::petsc) {
    const CsrRows rows = std::move(problem.a_rows);
    return petsc::make_preconditioner(problem.context, rows, problem.partition, config.options);
  }
  if (config.type == PreconditionerType::jacobi && is_constant(problem.context.comm, problem.a->diagonal()))
    return nullptr;
  std::unique_ptr<LinearOperator<T>> result;
  problem.context.comm.collectively([&] { result = make_polynomial(problem, config); });
  return result;
}

std::string description(const PreconditionerConfig& config) {
  switch (config.type) {
    case PreconditionerType::chebyshev:
      return fmt::format("chebyshev of degree {}", config.chebyshev.degree);
    case PreconditionerType::amg:
      return fmt::format("amg ({}, {})", name_of(config.amg.method),
                         config.amg.precision == Precision::float32 ? "float" : "double");
    case PreconditionerType::petsc:
      return fmt::format("petsc ({})", config.options);
    default:
      return name_of(config.type);
  }
}

template std::unique_ptr<LinearOperator<float>> make_preconditioner(Problem<float>&, const MatrixConfig&,
                                                                    const PreconditionerConfig&);
template std::unique_ptr<LinearOperator<double>> make_preconditioner(Problem<double>&, const MatrixConfig&,
                                                                     const PreconditionerConfig&);

}  // namespace block_eigs
