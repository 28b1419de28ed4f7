#include "apps/preconditioner.hpp"

#include <fmt/format.h>

#include "solver/preconditioner/chebyshev.hpp"
#include "solver/preconditioner/jacobi.hpp"

namespace block_eigs {

template <class T>
std::unique_ptr<LinearOperator<T>> make_preconditioner(const Problem<T>& problem,
                                                       const PreconditionerConfig& config) {
  std::unique_ptr<LinearOperator<T>> result;
  problem.context.comm.collectively([&] {
    DistributedMatrix<T>& a = *problem.a;
    if (config.type == PreconditionerType::jacobi) {
      result = std::make_unique<Jacobi<T>>(problem.context, a.diagonal());
    } else if (config.type == PreconditionerType::chebyshev) {
      const double bound = a.scaled_gershgorin_bound();
      result = std::make_unique<Chebyshev<T>>(problem.context, a, a.diagonal(), bound > 0.0 ? bound : 1.0,
                                              config.chebyshev);
    }
  });
  return result;
}

std::string description(const PreconditionerConfig& config) {
  const std::string name = name_of(config.type);
  return config.type == PreconditionerType::chebyshev
             ? fmt::format("{} of degree {}", name, config.chebyshev.degree)
             : name;
}

template std::unique_ptr<LinearOperator<float>> make_preconditioner(const Problem<float>&,
                                                                    const PreconditionerConfig&);
template std::unique_ptr<LinearOperator<double>> make_preconditioner(const Problem<double>&,
                                                                     const PreconditionerConfig&);

}  // namespace block_eigs
