#pragma once

#include <string>

#include "solver/checkpoint.hpp"

namespace block_eigs {

/// What goes along with a solver's state: what came before that solver, and how it was chosen.
struct Journey {
  SavedNumbers numbers{};
  std::string text{};
};

// Names in a checkpoint.
inline constexpr const char* program_text = "program";
inline constexpr const char* identity_text = "identity";
inline constexpr const char* journey_text = "along";
/// Before the names of numbers of the journey.
inline constexpr const char* journey_prefix = "along_";

/// Iterations of a state, those of ways before the present one included. Throws InputError on all ranks.
int iterations_of(const SavedNumbers& state, const Journey& journey);

}  // namespace block_eigs
