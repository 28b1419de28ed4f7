// The five smallest eigenvalues of the matrix in a file, or of a 7-point Laplacian and how far they are from the
// closed form:
//
//   mpirun -n 2 first_own_program [MATRIX]
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "io/formats/matrix_file.hpp"
#include "io/generate/generate.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "solver/preconditioner/jacobi.hpp"
#include "solver/space/block_space.hpp"
#include "spmm/error.hpp"
#include "spmm/matrix/distributed_matrix.hpp"
#include "spmm/parallel/context.hpp"
#include "spmm/parallel/partition.hpp"

namespace be = block_eigs;

static int run(const char* file) {
  const be::Communicator world(MPI_COMM_WORLD);
  const auto context = be::make_context<double>(world, be::Backend::automatic);

  const be::LaplacianOptions grid{.size = {20, 21, 22}};
  const auto source = file ? be::open_matrix_file(world, file) : be::laplacian3d(world, grid);
  const auto partition = be::Partition::uniform(source->rows(), world.size());
  be::DistributedMatrix<double> matrix(context, source->read(partition), partition, partition);

  be::BlockSpace<double> space(context, partition);
  be::Jacobi<double> jacobi(context, matrix.diagonal());
  be::LobpcgOptions options;
  options.pairs = 5;
  options.tolerance = 1e-8;
  const auto result = be::lobpcg<double>(space, matrix, nullptr, &jacobi, nullptr, {}, options);

  const auto expected = file ? result.eigenvalues : be::closed_form_laplacian_eigenvalues(grid, options.pairs);
  double worst = 0.0;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    worst = std::max(worst, std::abs(result.eigenvalues[k] - expected[k]));
    if (world.is_root()) std::printf("%.12f  +- %.1e\n", result.eigenvalues[k], result.error_bounds[k]);
  }
  return worst < 1e-10 ? 0 : 4;
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int code = 0;
  try {
    code = run(argc > 1 ? argv[1] : nullptr);
  } catch (const be::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, static_cast<int>(error.exit_code()));
  }
  MPI_Finalize();
  return code;
}
