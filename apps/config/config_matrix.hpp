#pragma once

#include <memory>
#include <string>

#include "io/config/yaml_section.hpp"
#include "io/generate/generate.hpp"
#include "io/source/matrix_source.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// Where a matrix comes from: a file, or the generator that `generate` names, whose options are the ones that
/// count.
struct MatrixConfig {
  std::string file;
  std::string dataset;  ///< empty where the file holds one matrix only
  std::string generate;
  LaplacianOptions laplacian;
  ElasticityOptions elasticity;
  SchroedingerOptions schroedinger;
  RmatOptions rmat;
  RandomUniformOptions uniform;
  RandomBandedOptions banded;
  RandomSpdOptions spd;
};

void describe(YamlSection& section, MatrixConfig& config);

/// Opens the file, or prepares the generator. Collective; throws InputError.
std::unique_ptr<MatrixSource> open_matrix(const Communicator& comm, const MatrixConfig& config);

}  // namespace block_eigs
