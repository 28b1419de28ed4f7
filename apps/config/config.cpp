#include "apps/config/config.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "apps/config/foreign_words.hpp"
#include "io/config/yaml_section.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

constexpr std::array which_names{std::pair{"smallest", Which::smallest}, std::pair{"largest", Which::largest}};
constexpr std::array convergence_names{std::pair{"relative", Convergence::relative},
                                       std::pair{"norm", Convergence::norm},
                                       std::pair{"absolute", Convergence::absolute}};
constexpr std::array preconditioner_names{
    std::pair{"auto", PreconditionerType::automatic}, std::pair{"none", PreconditionerType::none},
    std::pair{"jacobi", PreconditionerType::jacobi},  std::pair{"chebyshev", PreconditionerType::chebyshev},
    std::pair{"amg", PreconditionerType::amg},        std::pair{"direct", PreconditionerType::direct},
    std::pair{"petsc", PreconditionerType::petsc}};
constexpr std::array preconditioned_names{std::pair{"matrix", PreconditionedMatrix::matrix},
                                          std::pair{"mass", PreconditionedMatrix::mass}};
constexpr std::array method_names{std::pair{"aggregation", AmgMethod::aggregation},
                                  std::pair{"gamg", AmgMethod::gamg}, std::pair{"hypre", AmgMethod::hypre}};
constexpr std::array algorithm_names{std::pair{"auto", SpmmAlgorithm::automatic},
                                     std::pair{"row-split", SpmmAlgorithm::row_split},
                                     std::pair{"merge", SpmmAlgorithm::merge}};
constexpr std::array precision_names{std::pair{"double", Precision::float64},
                                     std::pair{"float", Precision::float32}};
constexpr std::array verify_names{std::pair{"auto", Verify::automatic}, std::pair{"residuals", Verify::residuals},
                                  std::pair{"probe", Verify::probe}, std::pair{"inertia", Verify::inertia}};
constexpr std::array filter_names{std::pair{"auto", FilterKind::automatic}, std::pair{"basis", FilterKind::basis},
                                  std::pair{"block", FilterKind::block}};
constexpr std::array device_names{std::pair{"auto", Backend::automatic}, std::pair{"host", Backend::host},
                                  std::pair{"cuda", Backend::cuda}};
constexpr std::array partition_names{std::pair{"nonzeros", PartitionWay::nonzeros},
                                     std::pair{"graph", PartitionWay::graph}};
constexpr std::array halo_names{std::pair{"auto", HaloWay::automatic}, std::pair{"staged", HaloWay::staged},
                                std::pair{"peer", HaloWay::peer}, std::pair{"nccl", HaloWay::nccl}};

/// Checks `value >= least`, at the place of `key`.
template <class Number>
void at_least(YamlSection& section, const char* key, Number value, Number least) {
  section.check(key, value >= least, fmt::format("must be at least {}, not {}", least, value));
}

void check_tolerance(YamlSection& section, double tolerance) {
  section.check("tolerance", tolerance >= 0.0 && tolerance < 1.0,
                fmt::format("must be at least 0 and less than 1, not {}", tolerance));
}

}  // namespace

void describe(YamlSection& section, BlockInput& input) {
  section.item("file", input.file);
  section.item("dataset", input.datasets);
  section.finish();
  section.check("", !input.file.empty(), "needs 'file'");
}

namespace {

/// Options of a preconditioner and the types that have them, for messages.
struct OwnedKey {
  const char* key;
  std::array<PreconditionerType, 2> owners;  // what they have in common is auto's too
  const char* named;
};
constexpr std::array owned_keys{
    OwnedKey{"of", {PreconditionerType::jacobi, PreconditionerType::chebyshev}, "types jacobi and chebyshev"},
    OwnedKey{"degree", {PreconditionerType::chebyshev, PreconditionerType::amg}, "types chebyshev and amg"},
    OwnedKey{"ratio", {PreconditionerType::chebyshev, PreconditionerType::chebyshev}, "type chebyshev"},
    OwnedKey{"method", {PreconditionerType::amg, PreconditionerType::amg}, "type amg"},
    OwnedKey{"precision", {PreconditionerType::amg, PreconditionerType::amg}, "type amg"},
    OwnedKey{"shift", {PreconditionerType::amg, PreconditionerType::direct}, "types amg and direct"},
    OwnedKey{"coordinates", {PreconditionerType::amg, PreconditionerType::automatic}, "types amg and auto"},
    OwnedKey{"near_null_space", {PreconditionerType::amg, PreconditionerType::automatic}, "types amg and auto"},
    OwnedKey{"unknowns_per_node", {PreconditionerType::amg, PreconditionerType::automatic}, "types amg and auto"},
    OwnedKey{"options", {PreconditionerType::petsc, PreconditionerType::amg}, "types petsc and amg"},
};

/// Options of another type than the one at hand are mistakes.
void refuse_keys_of_others(YamlSection& section, PreconditionerType type) {
  for (const OwnedKey& owned : owned_keys) {
    const bool ours = std::find(owned.owners.begin(), owned.owners.end(), type) != owned.owners.end();
    section.check(owned.key, ours || !section.has(owned.key),
                  fmt::format("belongs to {}, but the type is {}; replace them together: {{type: {}}}",
                              owned.named, name_of(type), name_of(type)));
  }
}

/// A polynomial is applied as a whole: nothing stops it half way, and beyond some hundred it is nobody's best
/// choice.
void describe_degree(YamlSection& section, int& degree) {
  constexpr int most = 1000;
  section.item("degree", degree);
  section.check("degree", degree >= 1 && degree <= most, fmt::format("must be 1 to {}, not {}", most, degree));
}

/// What the unknowns are, for multigrid.
void describe_unknowns(YamlSection& section, AmgConfig& config) {
  section.section("coordinates", config.coordinates);
  section.section("near_null_space", config.near_null_space);
  section.check("near_null_space", !config.near_null_space || !config.coordinates,
                "the near-null space is either read or made from coordinates; give one of them");
  section.item("unknowns_per_node", config.unknowns_per_node);
  at_least(section, "unknowns_per_node", config.unknowns_per_node, 1);
  section.check("unknowns_per_node", !section.has("unknowns_per_node") || !config.coordinates,
                "follows from 'coordinates'; leave it out");
}

void describe_amg(YamlSection& section, AmgConfig& config, std::string& options) {
  section.choice("method", config.method, method_names);
  describe_degree(section, config.cycle.smoother_degree);
  section.choice("precision", config.precision, precision_names);
  section.item("shift", config.shift);
  describe_unknowns(section, config);
  section.item("options", options);
  section.check("options", options.empty() || config.method != AmgMethod::aggregation,
                "are PETSc's, for the methods gamg and hypre; the method is aggregation");
}

void describe_direct(YamlSection& section, DirectConfig& config) {
  const bool given = section.reading() ? section.has("shift") : config.shift.has_value();
  if (!given) return;
  double shift = config.shift.value_or(0.0);
  section.item("shift", shift);
  config.shift = shift;
}

void describe_time_limit(YamlSection& section, std::optional<double>& seconds) {
  const bool given = section.reading() ? section.has("max_seconds") : seconds.has_value();
  if (!given) return;
  double limit = seconds.value_or(0.0);
  section.item("max_seconds", limit);
  section.check("max_seconds", limit > 0.0, fmt::format("must be greater than 0, not {}", limit));
  seconds = limit;
}

}  // namespace

void describe(YamlSection& section, PreconditionerConfig& config) {
  section.choice("type", config.type, preconditioner_names);
  refuse_keys_of_others(section, config.type);
  if (config.type == PreconditionerType::automatic) {
    describe_unknowns(section, config.amg);
  } else if (config.type == PreconditionerType::jacobi) {
    section.choice("of", config.of, preconditioned_names);
  } else if (config.type == PreconditionerType::chebyshev) {
    section.choice("of", config.of, preconditioned_names);
    describe_degree(section, config.chebyshev.degree);
    section.item("ratio", config.chebyshev.ratio);
    section.check("ratio", config.chebyshev.ratio == 0.0 || config.chebyshev.ratio > 1.0,
                  fmt::format("must be greater than 1, or 0 to have it chosen, not {}", config.chebyshev.ratio));
  } else if (config.type == PreconditionerType::amg) {
    describe_amg(section, config.amg, config.options);
  } else if (config.type == PreconditionerType::direct) {
    describe_direct(section, config.direct);
  } else if (config.type == PreconditionerType::petsc) {
    section.item("options", config.options);
    section.check("options", !config.options.empty(),
                  "type petsc needs the preconditioner as PETSc's options name it, such as \"-pc_type bjacobi\"");
  }
}

void describe(YamlSection& section, EigensolverConfig& config) {
  answer_foreign_words_of_eigensolver(section);
  LobpcgOptions& options = config.options;
  section.item("pairs", options.pairs);
  at_least(section, "pairs", options.pairs, 1);
  section.choice("which", options.which, which_names);
  section.item("tolerance", options.tolerance);
  check_tolerance(section, options.tolerance);
  section.choice("convergence", options.convergence, convergence_names);
  section.item("max_iterations", options.max_iterations);
  at_least(section, "max_iterations", options.max_iterations, 0);
  if (section.reading()) options.block_size = default_block_size(options.pairs);
  section.item("block_size", options.block_size);
  at_least(section, "block_size", options.block_size, 1);
  section.item("seed", options.seed);
  section.item("dense_up_to", options.dense_up_to);
  at_least(section, "dense_up_to", options.dense_up_to, GlobalIndex{0});
  section.section("preconditioner", config.preconditioner);
  // The levels hold A in float, so that it costs no memory; given vectors may be better than float can make them.
  if (section.reading() && config.preconditioner.type == PreconditionerType::amg && !section.has("initial") &&
      exists_in_float(config.preconditioner))
    config.inner_precision = Precision::float32;
  if (section.reading()) config.inner_precision_given = section.has("inner_precision");
  section.choice("inner_precision", config.inner_precision, precision_names);
  section.check("inner_precision",
                config.inner_precision == Precision::float64 || exists_in_float(config.preconditioner),
                "float goes with the preconditioners none, jacobi, chebyshev, and amg in float");
  section.section("initial", config.initial);
  section.section("constraints", config.constraints);
  // Stronger preconditioners do on the way what the filter does beforehand, and given vectors are to be kept.
  if (section.reading()) {
    const PreconditionerType type = config.preconditioner.type;
    options.filtered_start = !section.has("initial") && type != PreconditionerType::chebyshev &&
                             type != PreconditionerType::amg && type != PreconditionerType::direct &&
                             type != PreconditionerType::petsc;
  }
  section.item("filtered_start", options.filtered_start);
  section.choice("filter", config.filter, filter_names);
  section.choice("verify", config.verify, verify_names);
  section.check("verify", config.verify != Verify::inertia || !config.constraints,
                "inertia counts all eigenvalues and cannot leave out constraints; use probe");
}

void describe(YamlSection& section, LinearSolverConfig& config) {
  answer_foreign_words_of_linear_solver(section);
  section.item("tolerance", config.tolerance);
  check_tolerance(section, config.tolerance);
  section.item("max_iterations", config.max_iterations);
  at_least(section, "max_iterations", config.max_iterations, 0);
  section.item("block_size", config.block_size);
  at_least(section, "block_size", config.block_size, 1);
  section.section("preconditioner", config.preconditioner);
  if (section.reading()) config.inner_precision_given = section.has("inner_precision");
  section.choice("inner_precision", config.inner_precision, precision_names);
  section.check("inner_precision",
                config.inner_precision == Precision::float64 || exists_in_float(config.preconditioner),
                "float goes with the preconditioners none, jacobi, chebyshev, and amg in float");
  section.section("initial", config.initial);
}

void describe(YamlSection& section, RightHandSidesConfig& config) {
  section.item("file", config.input.file);
  section.item("dataset", config.input.datasets);
  if (section.reading() || config.random > 0) section.item("random", config.random);
  at_least(section, "random", config.random, 0);
  section.item("seed", config.seed);
  section.finish();
  section.check("random", config.input.file.empty() || config.random == 0,
                "right-hand sides are either read or random; give 'file' or 'random', not both");
  section.check("", !config.input.file.empty() || config.random > 0, "needs 'file' or 'random' (how many)");
}

void describe(YamlSection& section, SpmmOptions& options) {
  section.choice("algorithm", options.algorithm, algorithm_names);
}

void describe(YamlSection& section, OutputConfig& config) {
  section.item("file", config.file);
  section.item("eigenvectors", config.eigenvectors);
  section.finish();
  section.check("", !config.file.empty(), "needs 'file'");
}

void describe(YamlSection& section, RunConfig& config) {
  answer_foreign_words_of_run(section);
  std::optional<MatrixConfig> matrix;
  if (!section.reading()) matrix = config.matrix;
  section.section("matrix", matrix);
  section.section("mass", config.mass);
  section.section("eigensolver", config.eigensolver);
  section.section("linear_solver", config.linear_solver);
  section.section("right_hand_sides", config.right_hand_sides);
  section.section("spmm", config.spmm);
  section.choice("precision", config.precision, precision_names);
  section.choice("device", config.device, device_names);
  section.choice("halo", config.halo, halo_names);
  section.choice("partition", config.partition, partition_names);
  section.item("profile", config.profile);
  section.section("output", config.output);
  describe_time_limit(section, config.max_seconds);
  section.section("checkpoint", config.checkpoint);
  section.finish();
  section.check("", matrix.has_value(), "has no 'matrix': needs matrix: {file: ...} or matrix: {generate: ...}");
  if (matrix) config.matrix = *matrix;
}

RunConfig parse_config(const std::string& text, const std::string& name, std::span<const std::string> overrides) {
  RunConfig config;
  read_yaml(text, name, overrides, config);
  return config;
}

bool exists_in_float(const PreconditionerConfig& config) {
  return config.type != PreconditionerType::petsc && config.type != PreconditionerType::direct &&
         (config.type != PreconditionerType::amg || config.amg.precision == Precision::float32);
}

std::string resolved_config(const RunConfig& config) { return write_yaml(config); }

const char* name_of(PreconditionerType type) {
  for (const auto& [name, meaning] : preconditioner_names) {
    if (meaning == type) return name;
  }
  return "";
}

const char* name_of(AmgMethod method) {
  for (const auto& [name, meaning] : method_names) {
    if (meaning == method) return name;
  }
  return "";
}

}  // namespace block_eigs
