#include "solver/lobpcg/dense_eigensolver.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "solver/lobpcg/dense_assembly.hpp"
#include "solver/lobpcg/residual_test.hpp"
#include "solver/small/lapack.hpp"
#include "solver/small/lowest_by_components.hpp"
#include "solver/space/orthonormalize.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// Orthonormal basis of the vectors that are orthogonal to the columns of `images`.
SmallMatrix complement(const SmallMatrix& images) {
  // Of their projector these are the eigenvectors of zero, its least eigenvalue, which come first.
  const int n = images.rows();
  const int c = images.cols();
  SmallMatrix projector = lapack::product(images, false, images, true);
  lapack::symmetric_eigen(projector);
  SmallMatrix basis(n, n - c);
  std::copy_n(projector.data(), basis.values().size(), basis.data());
  return basis;
}

/// Eigenpairs of the restriction to the complement of the constraints, on rank 0.
SmallMatrix solve_dense(SmallMatrix a, const SmallMatrix& b, SmallMatrix images, const LobpcgOptions& options) {
  if (options.which == Which::largest) {
    for (double& value : a.values()) value = -value;
  }
  // Other limits are not relative to values.
  constexpr double share = 0.1;
  const double enough = options.convergence == Convergence::relative ? share * options.tolerance : 0.0;
  if (images.cols() == 0) return lowest_by_components(a, b, options.pairs, options.tolerance, enough);
  // Orthonormal columns that span the images, so that the projector's eigenvalues are 0 and 1.
  SmallMatrix gram = lapack::product(images, true, images, false);
  if (!lapack::cholesky(gram)) throw RunError("constraints: the vectors are linearly dependent");
  SmallMatrix rows(images.cols(), images.rows());
  for (int j = 0; j < images.cols(); ++j) {
    for (int i = 0; i < images.rows(); ++i) rows(j, i) = images(i, j);
  }
  lapack::solve_lower(gram, rows);
  for (int j = 0; j < images.cols(); ++j) {
    for (int i = 0; i < images.rows(); ++i) images(i, j) = rows(j, i);
  }
  const SmallMatrix q = complement(images);
  SmallMatrix restricted = lapack::product(q, true, lapack::product(a, false, q, false), false);
  SmallMatrix restricted_b;
  if (b.rows() > 0) restricted_b = lapack::product(q, true, lapack::product(b, false, q, false), false);
  return lapack::product(
      q, false, lowest_by_components(restricted, restricted_b, options.pairs, options.tolerance, enough), false);
}

/// Ritz values and true residuals of the vectors found, in the precision and with the operators of the caller.
template <class T>
void measure(BlockSpace<T>& space, LinearOperator<T>& a, LinearOperator<T>* b, const LobpcgOptions& options,
             EigenResult<T>& result) {
  DenseBlock<T> ax = space.make_block(options.pairs);
  DenseBlock<T> bx = space.make_block(b != nullptr ? options.pairs : 0);
  const ConstBlockView<T> x = result.eigenvectors.view();
  a.apply(x, ax.view());
  if (b != nullptr) b->apply(x, bx.view());
  const ConstBlockView<T> image = b != nullptr ? bx.view() : x;
  const std::vector<double> xax = space.column_dots(x, ax.view());
  const std::vector<double> xbx = space.column_dots(x, image);
  for (std::size_t j = 0; j < xax.size(); ++j) result.eigenvalues.push_back(xax[j] / xbx[j]);
  const std::vector<double> image_norms = space.column_norms(image);
  const std::vector<double> lengths = space.column_norms(x);
  result.residual_norms = space.residual(ax.view(), image, result.eigenvalues, ax.view());
  OperatorNorms norms{a.norm_scale(), b != nullptr ? b->norm_scale() : 1.0, a.typical_row_sum(), b != nullptr};
  if (std::isnan(norms.a)) norms.a = norms.typical_a = std::abs(result.eigenvalues.back());
  if (std::isnan(norms.b)) norms.b = 1.0;
  // A dense solver is accurate to n epsilon ||A||.
  const double epsilon =
      std::numeric_limits<T>::epsilon() * std::max(1.0, static_cast<double>(space.dimension()) / 100);
  const ResidualTest test(options, norms, epsilon);
  for (std::size_t j = 0; j < xax.size(); ++j) {
    result.outcomes.push_back(test.judge({result.eigenvalues[j], result.residual_norms[j], image_norms[j],
                                          lengths[j], norms.a * lengths[j], norms.b * lengths[j], 0.0}));
  }
  result.error_bounds = b == nullptr ? result.residual_norms
                                     : std::vector<double>(xax.size(), std::numeric_limits<double>::quiet_NaN());
}

/// How many pairs are not as good as is asked for, nor as rounding errors allow.
template <class T>
std::ptrdiff_t undone(const EigenResult<T>& result, const LobpcgOptions& options) {
  return options.pairs - static_cast<std::ptrdiff_t>(result.outcomes.size()) +
         std::count(result.outcomes.begin(), result.outcomes.end(), Outcome::not_converged);
}

}  // namespace

template <class T>
EigenResult<T> dense_eigensolve(BlockSpace<T>& space, LinearOperator<T>& a, LinearOperator<T>* b,
                                const DenseBlock<T>* constraints, const LobpcgOptions& options) {
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - began).count(); };
  EigenResult<T> result;
  const DenseRows rows = dense_rows(space);
  SmallMatrix dense_a = assemble_dense(space, rows, a);
  SmallMatrix dense_b = b != nullptr ? assemble_dense(space, rows, *b) : SmallMatrix();
  SmallMatrix images;
  if (constraints != nullptr && constraints->cols() > 0) {
    DenseBlock<T> image = space.make_block(constraints->cols());
    if (b != nullptr) {
      b->apply(constraints->view(), image.view());
    } else {
      space.copy(constraints->view(), image.view());
    }
    if (space.comm().is_root()) images.resize(static_cast<int>(space.dimension()), constraints->cols());
    gather_columns(space, rows, image, image.cols(), images, 0);
  }
  result.setup_seconds = elapsed();
  SmallMatrix vectors;
  {
    const Profile::Scope scope(space.profile(), Phase::small_dense);
    space.comm().collectively([&] {
      if (!space.comm().is_root()) return;
      vectors = solve_dense(std::move(dense_a), dense_b, std::move(images), options);
    });
  }
  result.eigenvectors = space.make_block(options.pairs);
  scatter_columns(space, rows, vectors, result.eigenvectors);
  measure(space, a, b, options, result);
  if (undone(result, options) > 0) {
    result.limitation = Limitation::precision;
    result.remark = "solved densely, within rounding errors of that";
  }
  result.solve_seconds = elapsed() - result.setup_seconds;
  return result;
}

template <class T>
void finish_densely(BlockSpace<T>& space, LinearOperator<T>& a, LinearOperator<T>* b,
                    const DenseBlock<T>* constraints, const LobpcgOptions& options, EigenResult<T>& result) {
  if (space.dimension() > options.dense_up_to || result.limitation == Limitation::stopped ||
      undone(result, options) == 0)
    return;
  try {
    EigenResult<T> dense = dense_eigensolve(space, a, b, constraints, options);
    if (undone(dense, options) >= undone(result, options)) {
      // More iterations would not help either.
      result.limitation = Limitation::precision;
      result.remark += ", and a dense solver came no further: within rounding errors of that";
      return;
    }
    dense.history = std::move(result.history);
    dense.iterations = result.iterations;
    dense.setup_seconds = result.setup_seconds;
    dense.solve_seconds += result.solve_seconds + dense.setup_seconds;
    if (undone(dense, options) > 0)
      dense.remark = "solved densely after " + result.remark + ", within rounding errors of that";
    result = std::move(dense);
  } catch (const Error& error) {
    // Without memory for a dense matrix what iterations have found stays. A B that is no mass matrix does not.
    if (dynamic_cast<const OnAllRanks*>(&error) == nullptr || error.exit_code() == ExitCode::invalid_input) throw;
  }
}

template void finish_densely(BlockSpace<float>&, LinearOperator<float>&, LinearOperator<float>*,
                             const DenseBlock<float>*, const LobpcgOptions&, EigenResult<float>&);
template void finish_densely(BlockSpace<double>&, LinearOperator<double>&, LinearOperator<double>*,
                             const DenseBlock<double>*, const LobpcgOptions&, EigenResult<double>&);
template EigenResult<float> dense_eigensolve(BlockSpace<float>&, LinearOperator<float>&, LinearOperator<float>*,
                                             const DenseBlock<float>*, const LobpcgOptions&);
template EigenResult<double> dense_eigensolve(BlockSpace<double>&, LinearOperator<double>&,
                                              LinearOperator<double>*, const DenseBlock<double>*,
                                              const LobpcgOptions&);

}  // namespace block_eigs
