#include "apps/input/preconditioner.hpp"

#include <cmath>
#include <memory>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "apps/input/direct.hpp"
#include "apps/input/near_null_space.hpp"
#include "io/petsc/bridge/petsc_hierarchy.hpp"
#include "io/petsc/bridge/petsc_preconditioner.hpp"
#include "solver/multigrid/amg.hpp"
#include "solver/multigrid/device_levels.hpp"
#include "solver/multigrid/nested_iteration.hpp"
#include "solver/preconditioner/cast_operator.hpp"
#include "solver/preconditioner/chebyshev.hpp"
#include "solver/preconditioner/jacobi.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// A in float from A - shift I, which is what the levels of a shifted cycle hold. Refers to `shifted`.
class ShiftedBack final : public LinearOperator<float> {
 public:
  ShiftedBack(const Context<float>& context, LinearOperator<float>& shifted, double shift)
      : context_(context), shifted_(shifted), shift_(shift) {}

  LocalIndex rows() const override { return shifted_.rows(); }
  LocalIndex columns() const override { return shifted_.columns(); }
  void apply(ConstBlockView<float> x, BlockView<float> y) override {
    ProductStep<float> step;
    step.beta = shift_;
    if (shifted_.apply_step(x, y, step)) return;
    shifted_.apply(x, y);
    context_.kernels->axpby(shift_, x, 1.0, y);
  }
  std::size_t work_bytes(LocalIndex cols) const override { return shifted_.work_bytes(cols); }
  void reserve(LocalIndex columns) override { shifted_.reserve(columns); }
  void limit_work_space(LocalIndex columns) override { shifted_.limit_work_space(columns); }
  double norm_inf() const override { return shifted_.norm_inf() + std::abs(shift_); }

 private:
  Context<float> context_;
  LinearOperator<float>& shifted_;
  double shift_;
};

/// A float cycle lent to a double solver.
class FloatAmg final : public LinearOperator<double> {
 public:
  FloatAmg(const Context<double>& context, std::unique_ptr<Amg<float>> inner, const AmgConfig& config)
      : context_(with_precision<float>(context)),
        inner_(std::move(inner)),
        outer_(context, *inner_),
        matrix_(inner_->finest_matrix()) {
    if (matrix_ == nullptr || config.shift == 0.0) return;
    shifted_back_ = std::make_unique<ShiftedBack>(context_, *matrix_, config.shift);
    matrix_ = shifted_back_.get();
  }

  LocalIndex rows() const override { return outer_.rows(); }
  LocalIndex columns() const override { return outer_.columns(); }
  void apply(ConstBlockView<double> x, BlockView<double> y) override { outer_.apply(x, y); }
  void apply_sized(ConstBlockView<double> x, std::span<const double> norms, BlockView<double> y) override {
    outer_.apply_sized(x, norms, y);
  }

  std::size_t bytes() const override { return inner_->bytes(); }
  std::size_t work_bytes(LocalIndex cols) const override { return outer_.work_bytes(cols); }
  void reserve(LocalIndex columns) override { outer_.reserve(columns); }
  void limit_work_space(LocalIndex columns) override { outer_.limit_work_space(columns); }

  std::string description() const { return inner_->description(); }
  bool coarsens() const { return inner_->coarsens(); }
  FloatOperators in_float() { return {matrix_, inner_.get()}; }

  /// nested_iteration() of the float cycle.
  DenseBlock<double> start_vectors(LocalIndex columns, std::uint64_t seed) {
    const DenseBlock<float> start = nested_iteration(*inner_, columns, seed);
    DenseBlock<double> result(context_.device, start.rows(), start.cols());
    if (start.cols() > 0) context_.kernels->convert(start.view(), {}, result.view());
    return result;
  }

 private:
  Context<float> context_;
  std::unique_ptr<Amg<float>> inner_;
  CastOperator outer_;
  LinearOperator<float>* matrix_;  ///< A, where there is one in float
  std::unique_ptr<ShiftedBack> shifted_back_;
};

/// A - shift I. Where no diagonal entry is stored there is nothing to take it from.
void take_shift(CsrRows& rows, double shift) {
  if (shift == 0.0) return;
  for (std::size_t i = 0; i + 1 < rows.row_offsets.size(); ++i) {
    for (Offset k = rows.row_offsets[i]; k < rows.row_offsets[i + 1]; ++k) {
      const auto at = static_cast<std::size_t>(k);
      if (rows.columns[at] == rows.row_begin + static_cast<GlobalIndex>(i)) rows.values[at] -= shift;
    }
  }
}

/// Levels of PETSc's. Collective.
template <class T>
GridHierarchy build_levels(Problem<T>& problem, const PreconditionerConfig& config, NearNullSpace space) {
  take_shift(problem.a_rows, config.amg.shift);
  const CsrRows rows = std::move(problem.a_rows);
  return petsc::build_hierarchy(problem.context.comm, rows, problem.partition,
                                {name_of(config.amg.method), std::move(space), config.options});
}

/// Levels in double where the matrix is, of the matrix itself or, where that is in float, of its rows, which are
/// on the device in double for no longer than that takes. Collective.
template <class T>
DeviceHierarchy aggregated_levels(Problem<T>& problem, const PreconditionerConfig& config,
                                  const NearNullSpace& space) {
  const Context<double> context = with_precision<double>(problem.context);
  CsrRows rows = std::move(problem.a_rows);
  std::unique_ptr<DistributedMatrix<double>> in_double;
  const DistributedMatrix<double>* a = nullptr;
  if constexpr (std::is_same_v<T, double>) {
    rows = {};
    a = problem.a.get();
  } else {
    in_double = std::make_unique<DistributedMatrix<double>>(context, std::move(rows), problem.partition,
                                                            problem.partition);
    a = in_double.get();
  }
  DeviceNearNullSpace on_device;
  context.comm.collectively([&] { on_device = to_device(context, space, a->rows()); });
  return smoothed_aggregation(context, *a, config.amg.shift, std::move(on_device));
}

/// The cycle in precision U for A - shift I. Collective.
template <class U, class T>
std::unique_ptr<Amg<U>> make_cycle(Problem<T>& problem, const MatrixConfig& matrix,
                                   const PreconditionerConfig& config) {
  NearNullSpace space =
      read_near_null_space(problem.context.comm, config, matrix, problem.partition, problem.order.get());
  const Context<U> context = with_precision<U>(problem.context);
  if (config.amg.method == AmgMethod::aggregation)
    return std::make_unique<Amg<U>>(context, aggregated_levels(problem, config, space), config.amg.cycle);
  return std::make_unique<Amg<U>>(context, build_levels(problem, config, std::move(space)), config.amg.cycle);
}

template <class T>
Preconditioner<T> make_amg(Problem<T>& problem, const MatrixConfig& matrix, const PreconditionerConfig& config) {
  Preconditioner<T> result;
  if constexpr (std::is_same_v<T, double>) {
    if (config.amg.precision == Precision::float32) {
      auto cycle =
          std::make_unique<FloatAmg>(problem.context, make_cycle<float>(problem, matrix, config), config.amg);
      result.start_vectors = [&source = *cycle](LocalIndex columns, std::uint64_t seed) {
        return source.start_vectors(columns, seed);
      };
      result.in_float = cycle->in_float();
      result.made = "amg: " + cycle->description();
      result.coarsens = cycle->coarsens();
      result.operation = std::move(cycle);
      return result;
    }
  }
  std::unique_ptr<Amg<T>> cycle = make_cycle<T>(problem, matrix, config);
  result.start_vectors = [&source = *cycle](LocalIndex columns, std::uint64_t seed) {
    return nested_iteration(source, columns, seed);
  };
  result.made = "amg: " + cycle->description();
  result.coarsens = cycle->coarsens();
  result.operation = std::move(cycle);
  return result;
}

/// The matrix that it is made of.
template <class T>
DistributedMatrix<T>& preconditioned(const Problem<T>& problem, const PreconditionerConfig& config) {
  if (config.of == PreconditionedMatrix::matrix) return *problem.a;
  require(problem.b != nullptr, "preconditioner.of: there is no mass matrix to make it of; take 'of: matrix'");
  return *problem.b;
}

/// Those that need nothing but what the matrix has in store. Not collective.
template <class T>
std::unique_ptr<LinearOperator<T>> make_polynomial(const Problem<T>& problem, const PreconditionerConfig& config,
                                                   double constant) {
  DistributedMatrix<T>& a = preconditioned(problem, config);
  if (config.type == PreconditionerType::jacobi)
    return std::make_unique<Jacobi<T>>(problem.context, inverse_on_device(a));
  if (config.type == PreconditionerType::none) return nullptr;
  const double bound = a.jacobi_bound();
  // Not of T, so that a float polynomial has the same coefficients.
  const double inverse = constant != 0.0 ? inverse_diagonal<double>(std::span(&constant, 1)).front() : 0.0;
  return std::make_unique<Chebyshev<T>>(problem.context, a, inverse_on_device(a), inverse,
                                        bound > 0.0 ? bound : 1.0, config.chebyshev);
}

}  // namespace

template <class T>
bool makes_levels_of_matrix(const PreconditionerConfig& config) {
  return std::is_same_v<T, double> && config.type == PreconditionerType::amg &&
         config.amg.method == AmgMethod::aggregation;
}

template <class T>
bool needs_rows(const PreconditionerConfig& config) {
  if (config.type == PreconditionerType::amg) return !makes_levels_of_matrix<T>(config);
  return config.type == PreconditionerType::petsc || config.type == PreconditionerType::direct ||
         config.type == PreconditionerType::automatic;
}

bool needs_mass_rows(const PreconditionerConfig& config) {
  return config.type == PreconditionerType::direct || config.type == PreconditionerType::automatic;
}

template <class T>
Preconditioner<T> make_preconditioner(Problem<T>& problem, const MatrixConfig& matrix,
                                      const PreconditionerConfig& config) {
  if (config.type == PreconditionerType::amg) return make_amg(problem, matrix, config);
  if (config.type == PreconditionerType::direct) return make_direct(problem, config.direct);
  if (config.type == PreconditionerType::petsc) {
    const CsrRows rows = std::move(problem.a_rows);
    return {petsc::make_preconditioner(problem.context, rows, problem.partition, config.options)};
  }
  Preconditioner<T> result;
  const double constant = constant_diagonal(preconditioned(problem, config));
  if (config.type == PreconditionerType::jacobi && constant != 0.0) return result;
  problem.context.comm.collectively([&] { result.operation = make_polynomial(problem, config, constant); });
  return result;
}

std::string description(const PreconditionerConfig& config) {
  const char* of = config.of == PreconditionedMatrix::mass ? " for the mass matrix" : "";
  switch (config.type) {
    case PreconditionerType::jacobi:
      return fmt::format("jacobi{}", of);
    case PreconditionerType::chebyshev:
      return fmt::format("chebyshev of degree {}{}", config.chebyshev.degree, of);
    case PreconditionerType::amg:
      return fmt::format("amg ({}, {}{})", name_of(config.amg.method),
                         config.amg.precision == Precision::float32 ? "float" : "double",
                         config.amg.shift != 0.0 ? fmt::format(", shifted by {:.3g}", config.amg.shift) : "");
    case PreconditionerType::petsc:
      return fmt::format("petsc ({})", config.options);
    default:
      return name_of(config.type);
  }
}

template Preconditioner<float> make_preconditioner(Problem<float>&, const MatrixConfig&,
                                                   const PreconditionerConfig&);
template Preconditioner<double> make_preconditioner(Problem<double>&, const MatrixConfig&,
                                                    const PreconditionerConfig&);

template bool makes_levels_of_matrix<float>(const PreconditionerConfig&);
template bool makes_levels_of_matrix<double>(const PreconditionerConfig&);
template bool needs_rows<float>(const PreconditionerConfig&);
template bool needs_rows<double>(const PreconditionerConfig&);

}  // namespace block_eigs
