#include "solver/lobpcg/lobpcg.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "solver/lobpcg/dense_eigensolver.hpp"
#include "solver/lobpcg/lobpcg_run.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

void check_options(const LobpcgOptions& options, GlobalIndex dimension, int constraints) {
  const GlobalIndex room = dimension - constraints;
  require(options.pairs >= 1, "eigensolver.pairs must be at least 1, not " + std::to_string(options.pairs));
  require(options.pairs <= room,
          "eigensolver.pairs = " + std::to_string(options.pairs) + ", but the matrix has only " +
              std::to_string(dimension) + " rows" +
              (constraints > 0 ? " and " + std::to_string(constraints) + " constraints" : ""));
  require(options.block_size >= 0, "eigensolver.block_size must not be negative");
  require(options.tolerance >= 0.0, "eigensolver.tolerance must not be negative");
}

}  // namespace

int default_block_size(int pairs) { return pairs + std::clamp(pairs / 4, 2, 16); }

int start_columns(int pairs, int block_size) {
  return pairs < block_size ? pairs + 3 * (block_size - pairs) / 4 : block_size;
}

int block_width(const LobpcgOptions& options) {
  return options.block_size > 0 ? options.block_size : default_block_size(options.pairs);
}

bool solves_densely(const LobpcgOptions& options, GlobalIndex rows, int constraints) {
  return 5 * (GlobalIndex{std::max(block_width(options), options.pairs)} + constraints) > rows;
}

template <class T>
EigenResult<T> lobpcg(BlockSpace<T>& space, LinearOperator<T>& a, LinearOperator<T>* b,
                      LinearOperator<T>* preconditioner, const DenseBlock<T>* constraints, DenseBlock<T> initial,
                      const LobpcgOptions& options, const Observer& observer) {
  const int constraint_columns = constraints != nullptr ? constraints->cols() : 0;
  const int width = block_width(options);
  space.comm().collectively([&] {
    check_options(options, space.dimension(), constraint_columns);
    require(initial.cols() <= width, "eigensolver.initial holds " + std::to_string(initial.cols()) +
                                         " vectors, more than block_size = " + std::to_string(width));
  });
  if (solves_densely(options, space.dimension(), constraint_columns))
    return dense_eigensolve(space, a, b, constraints, options);
  LobpcgRun<T> solver(space, a, b, preconditioner, options, observer, width, constraint_columns);
  return solver.run(constraints, std::move(initial));
}

template EigenResult<float> lobpcg(BlockSpace<float>&, LinearOperator<float>&, LinearOperator<float>*,
                                   LinearOperator<float>*, const DenseBlock<float>*, DenseBlock<float>,
                                   const LobpcgOptions&, const Observer&);
template EigenResult<double> lobpcg(BlockSpace<double>&, LinearOperator<double>&, LinearOperator<double>*,
                                    LinearOperator<double>*, const DenseBlock<double>*, DenseBlock<double>,
                                    const LobpcgOptions&, const Observer&);

}  // namespace block_eigs
