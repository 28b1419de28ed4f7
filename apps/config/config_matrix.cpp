#include "apps/config/config_matrix.hpp"

#include <array>
#include <utility>
#include <vector>

#include "io/formats/matrix_file.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

void describe_laplacian(YamlSection& section, MatrixConfig& config) {
  section.item("size", config.laplacian.size);
  section.item("points", config.laplacian.points);
  section.item("anisotropy", config.laplacian.anisotropy);
}

void describe_elasticity(YamlSection& section, MatrixConfig& config) {
  section.item("size", config.elasticity.size);
  section.item("young", config.elasticity.young);
  section.item("poisson", config.elasticity.poisson);
  section.item("clamped", config.elasticity.clamped);
}

void describe_schroedinger(YamlSection& section, MatrixConfig& config) {
  section.item("size", config.schroedinger.size);
  section.item("spacing", config.schroedinger.spacing);
  section.item("omega", config.schroedinger.omega);
}

void describe_rmat(YamlSection& section, MatrixConfig& config) {
  section.item("scale", config.rmat.scale);
  section.item("edge_factor", config.rmat.edge_factor);
  section.item("probabilities", config.rmat.probabilities);
  section.item("seed", config.rmat.seed);
}

void describe_uniform(YamlSection& section, MatrixConfig& config) {
  section.item("rows", config.uniform.rows);
  section.item("per_row", config.uniform.per_row);
  section.item("seed", config.uniform.seed);
}

void describe_banded(YamlSection& section, MatrixConfig& config) {
  section.item("rows", config.banded.rows);
  section.item("bandwidth", config.banded.bandwidth);
  section.item("density", config.banded.density);
  section.item("seed", config.banded.seed);
}

void describe_spd(YamlSection& section, MatrixConfig& config) {
  section.item("rows", config.spd.rows);
  section.item("per_row", config.spd.per_row);
  section.item("shift", config.spd.shift);
  section.item("seed", config.spd.seed);
}

/// A name of the `generate` key, its options, and what makes the matrix.
struct Generator {
  const char* name;
  void (*describe)(YamlSection&, MatrixConfig&);
  std::unique_ptr<MatrixSource> (*make)(const Communicator&, const MatrixConfig&);
};

template <auto function, auto member>
std::unique_ptr<MatrixSource> make(const Communicator& comm, const MatrixConfig& config) {
  return function(comm, config.*member);
}

constexpr std::array generators{
    Generator{"laplacian1d", describe_laplacian, make<laplacian1d, &MatrixConfig::laplacian>},
    Generator{"laplacian2d", describe_laplacian, make<laplacian2d, &MatrixConfig::laplacian>},
    Generator{"laplacian3d", describe_laplacian, make<laplacian3d, &MatrixConfig::laplacian>},
    Generator{"elasticity3d", describe_elasticity, make<elasticity3d, &MatrixConfig::elasticity>},
    Generator{"schroedinger3d", describe_schroedinger, make<schroedinger3d, &MatrixConfig::schroedinger>},
    Generator{"graph_laplacian", describe_rmat, make<graph_laplacian, &MatrixConfig::rmat>},
    Generator{"rmat", describe_rmat, make<rmat, &MatrixConfig::rmat>},
    Generator{"random_uniform", describe_uniform, make<random_uniform, &MatrixConfig::uniform>},
    Generator{"random_banded", describe_banded, make<random_banded, &MatrixConfig::banded>},
    Generator{"random_spd", describe_spd, make<random_spd, &MatrixConfig::spd>},
};

}  // namespace

void describe(YamlSection& section, MatrixConfig& config) {
  section.item("file", config.file);
  section.item("dataset", config.dataset);
  std::vector<std::string> names;
  names.reserve(generators.size());
  for (const Generator& generator : generators) names.emplace_back(generator.name);
  section.choice("generate", config.generate, names);
  for (const Generator& generator : generators) {
    if (config.generate == generator.name) generator.describe(section, config);
  }
  section.finish();
  section.check("generate", config.file.empty() || config.generate.empty(),
                "a matrix is either read from a file or generated; give 'file' or 'generate', not both");
  section.check("", !config.file.empty() || !config.generate.empty(),
                "needs 'file' (a matrix file) or 'generate' (the name of a generator)");
  section.check("dataset", config.dataset.empty() || !config.file.empty(),
                "belongs to a 'file', which is not given");
}

std::unique_ptr<MatrixSource> open_matrix(const Communicator& comm, const MatrixConfig& config) {
  if (config.generate.empty()) return open_matrix_file(comm, config.file, config.dataset);
  for (const Generator& generator : generators) {
    if (config.generate == generator.name) return generator.make(comm, config);
  }
  throw InputError("matrix.generate: unknown generator '" + config.generate + "'");
}

}  // namespace block_eigs
