#pragma once

#include <string>

#include "io/config/yaml_section.hpp"

namespace block_eigs {

/// Where a run leaves its state, and finds the one that it goes on from.
struct CheckpointConfig {
  std::string file;
  double every = 600.0;  ///< seconds from one to the next; 0 is after every iteration
};

void describe(YamlSection& section, CheckpointConfig& config);

}  // namespace block_eigs
