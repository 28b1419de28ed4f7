#include "apps/config/help.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace block_eigs {

namespace {

constexpr std::string_view keys =
    R"(Config keys (docs/config.md explains them; on the command line: eigensolver.pairs=16):
  matrix              file, dataset | generate and its options: laplacian3d with size: [48, 48, 48], elasticity3d ...
  mass                as matrix: B of A x = lambda B x
  eigensolver
    pairs             how many (1)
    which             smallest, largest
    tolerance         of the residual, relative to |lambda| (1e-8)
    convergence       relative, norm, absolute: what the tolerance is relative to
    max_iterations    (500)
    block_size        columns at work (pairs and a few more)
    seed              of the random start vectors (1)
    filtered_start    begin with Chebyshev filters
    filter            auto, basis, block: what these work on
    dense_up_to       rows up to which what is left undone is solved densely (3000)
    verify            auto, residuals, probe, inertia: how it is known that no pair is missing
    preconditioner    type: auto, none, jacobi, chebyshev (degree, ratio), direct (shift), petsc (options),
                      amg (method, degree, precision, shift, coordinates, near_null_space, unknowns_per_node, options)
    inner_precision   double, float: in which iterations begin
    initial           start vectors: file, dataset
    constraints       vectors to stay orthogonal to: file, dataset
  linear_solver       tolerance (1e-8), max_iterations (1000), block_size (16), preconditioner, inner_precision, initial
  right_hand_sides    file, dataset | random (how many), seed
  spmm                algorithm: auto, row-split, merge
  precision           double, float
  device              auto, host, cuda
  halo                auto, staged, peer, nccl: how rows get from rank to rank
  partition           nonzeros, graph: which rank has which rows
  profile             true: where the time goes, phase by phase
  output              file, eigenvectors (true)
  max_seconds         of the whole run: then it ends with the best that it has
  checkpoint          file, every (10min): the state of the run, from which the same command goes on
)";

struct Alias {
  std::string_view option;
  std::string_view key;
};
constexpr std::array aliases{Alias{"device", "device"},
                             Alias{"precision", "precision"},
                             Alias{"pairs", "eigensolver.pairs"},
                             Alias{"k", "eigensolver.pairs"},
                             Alias{"nev", "eigensolver.pairs"},
                             Alias{"which", "eigensolver.which"},
                             Alias{"tol", "eigensolver.tolerance"},
                             Alias{"tolerance", "eigensolver.tolerance"},
                             Alias{"max_iterations", "eigensolver.max_iterations"},
                             Alias{"max-iterations", "eigensolver.max_iterations"},
                             Alias{"maxiter", "eigensolver.max_iterations"},
                             Alias{"block_size", "eigensolver.block_size"},
                             Alias{"block-size", "eigensolver.block_size"},
                             Alias{"seed", "eigensolver.seed"},
                             Alias{"verify", "eigensolver.verify"},
                             Alias{"preconditioner", "eigensolver.preconditioner.type"},
                             Alias{"matrix", "matrix.file"},
                             Alias{"mass", "mass.file"},
                             Alias{"output", "output.file"},
                             Alias{"o", "output.file"}};

}  // namespace

std::string config_help() { return std::string(keys); }

std::string hint_for_option(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    std::string_view option = argv[i];
    if (!option.starts_with('-')) continue;
    option.remove_prefix(std::min(option.find_first_not_of('-'), option.size()));
    const std::size_t equals = option.find('=');
    const std::string_view name = option.substr(0, equals);
    const auto* alias =
        std::find_if(aliases.begin(), aliases.end(), [&](const Alias& a) { return a.option == name; });
    if (alias == aliases.end()) continue;
    std::string_view value = "...";
    if (equals != std::string_view::npos) {
      value = option.substr(equals + 1);
    } else if (i + 1 < argc && argv[i + 1][0] != '-') {
      value = argv[i + 1];
    }
    return fmt::format("write {}={} after the config instead", alias->key, value);
  }
  return "";
}

}  // namespace block_eigs
