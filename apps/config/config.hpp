#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/config/config_checkpoint.hpp"
#include "apps/config/config_matrix.hpp"
#include "io/source/block_source.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "solver/multigrid/amg.hpp"
#include "solver/preconditioner/chebyshev.hpp"
#include "spmm/device/device.hpp"
#include "spmm/device/kernels.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/transport.hpp"

namespace block_eigs {

/// Dense block of vectors in a file, or in memory.
struct BlockInput {
  std::string file;
  std::vector<std::string> datasets;  ///< side by side; empty where the file holds one block only
  /// Opens the block in place of a file, where the caller has it in memory. Collective.
  std::function<std::unique_ptr<BlockSource>(const Communicator&)> in_memory{};
};

enum class Precision { float64, float32 };

enum class PreconditionerType { automatic, none, jacobi, chebyshev, amg, direct, petsc };
enum class AmgMethod { aggregation, gamg, hypre };
/// Whose approximate inverse a preconditioner is: A's for the smallest eigenvalues of A x = lambda B x, B's for
/// the largest.
enum class PreconditionedMatrix { matrix, mass };

struct AmgConfig {
  AmgMethod method = AmgMethod::aggregation;
  AmgOptions cycle;
  Precision precision = Precision::float32;
  std::optional<BlockInput> coordinates;  ///< of the nodes of an elastic body
  std::optional<BlockInput> near_null_space;
  int unknowns_per_node = 1;  ///< without coordinates
  double shift = 0.0;  ///< of A - shift I, which is what is coarsened: below the spectrum where A is indefinite
};

/// What the shift of factors is looked for by, see ShiftSearch: not of the file, but what solvers tell as they go.
struct ShiftTarget {
  std::optional<Which> end{};    ///< of the eigenvalues; none for a linear system
  std::optional<double> near{};  ///< an approximation of the outermost eigenvalue that is still to be found
  double margin = 0.0;           ///< that is allowed for beyond it
  bool at_zero = false;          ///< sigma = 0 is tried before all others: its distance from it hides values
  std::vector<double> found{};   ///< eigenvalues that may be beyond sigma: of locked vectors
};

/// Factors of A - sigma B, sigma beyond the wanted end of the spectrum: (A - sigma B)^-1, or of A alone for A x =
/// f.
struct DirectConfig {
  std::optional<double> shift{};  ///< sigma; without it, it is found
  ShiftTarget target{};
};

struct PreconditionerConfig {
  PreconditionerType type = PreconditionerType::automatic;
  PreconditionedMatrix of = PreconditionedMatrix::matrix;  ///< types jacobi and chebyshev
  ChebyshevOptions chebyshev{};
  AmgConfig amg{};
  DirectConfig direct{};
  std::string options{};  ///< PETSc's, for type petsc and for the methods of amg that are PETSc's
};

/// The same for a linear system, whose error has parts all over the spectrum: what comes from the coarse levels of
/// multigrid counts for less than where smooth vectors alone are looked for.
inline PreconditionerConfig preconditioner_of_systems() {
  PreconditionerConfig config;
  config.amg.cycle.coarse_weight = 1.15;
  return config;
}

/// What is done, beside the final check, to know that no pair was missed.
enum class Verify { automatic, residuals, probe, inertia };

/// What filters work on where they may begin the iteration: an orthonormal basis that grows by what each of them
/// brings forth, or the block alone. The basis takes half the products and more passes over vectors: `automatic`
/// takes it on GPUs where blocks are narrow: basis_pays.
enum class FilterKind { automatic, basis, block };

struct EigensolverConfig {
  LobpcgOptions options;  ///< filter_basis follows from `filter` and the device
  FilterKind filter = FilterKind::automatic;
  PreconditionerConfig preconditioner;
  Precision inner_precision = Precision::float64;  ///< float32: lobpcg_mixed
  bool inner_precision_given = false;              ///< or what is best is to be found out
  std::optional<BlockInput> initial;
  std::optional<BlockInput> constraints;
  Verify verify = Verify::automatic;
};

struct LinearSolverConfig {
  double tolerance = 1e-8;
  Precision inner_precision = Precision::float64;  ///< float32: block_cg_mixed
  bool inner_precision_given = false;              ///< or what is best is to be found out
  int max_iterations = 1000;
  int block_size = 16;
  PreconditionerConfig preconditioner = preconditioner_of_systems();
  std::optional<BlockInput> initial;
};

/// Vectors of a file, or `random` ones.
struct RightHandSidesConfig {
  BlockInput input;
  int random = 0;
  std::uint64_t seed = 1;
};

/// How rows are dealt to ranks: in blocks of the file's order, or as the graph of the matrix suggests.
enum class PartitionWay { nonzeros, graph };

struct OutputConfig {
  std::string file;
  bool eigenvectors = true;
};

/// Everything that a config file can say: the option structs of the layers below, with their defaults. Both
/// programs read the same file, each uses its sections. docs/config.md explains every key.
struct RunConfig {
  MatrixConfig matrix;
  std::optional<MatrixConfig> mass;
  EigensolverConfig eigensolver;
  LinearSolverConfig linear_solver;
  std::optional<RightHandSidesConfig> right_hand_sides;
  SpmmOptions spmm;
  Precision precision = Precision::float64;
  Backend device = Backend::automatic;
  HaloWay halo = HaloWay::automatic;
  PartitionWay partition = PartitionWay::nonzeros;
  /// Where the time goes, phase by phase: its clocks, events on a GPU, are read at every product and sum.
  bool profile = false;
  std::optional<OutputConfig> output;
  /// Of a run from its start, after which it ends early; without it there is no limit.
  std::optional<double> max_seconds;
  std::optional<CheckpointConfig> checkpoint;
};

/// `text` is YAML, `name` what messages call it, `overrides` are "key.path=value". Strict: throws InputError that
/// names the line and what would be right. Not collective.
RunConfig parse_config(const std::string& text, const std::string& name, std::span<const std::string> overrides);

/// Rank 0 reads the file, all ranks parse the same bytes. Collective.
RunConfig read_config(const Communicator& comm, const std::string& path, std::span<const std::string> overrides);

/// YAML with every key, defaults included, that reads back as the same config.
std::string resolved_config(const RunConfig& config);

/// Whether the solvers have this preconditioner in float, for iterations in float under results in double.
bool exists_in_float(const PreconditionerConfig& config);

const char* name_of(PreconditionerType type);
const char* name_of(AmgMethod method);

}  // namespace block_eigs
