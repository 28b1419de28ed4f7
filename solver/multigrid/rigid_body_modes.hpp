#pragma once

#include <span>
#include <vector>

#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// Translations and rotations of a body in `dimensions` = 2 or 3.
constexpr int rigid_body_mode_count(int dimensions) { return dimensions == 2 ? 3 : 6; }

/// Moves the origin of `coordinates`, row-major [own nodes][dimensions], to the mean over the nodes of all ranks,
/// so that rotations do not drown in translations. Collective.
void center(const Communicator& comm, int dimensions, std::span<double> coordinates);

/// Rigid-body modes at the unknowns (displacements in x, y, z of node after node), row-major [own
/// unknowns][modes]: translations first, then the rotation about the origin in the plane, or about the axes x, y,
/// z: e_k x r. Not collective.
std::vector<double> rigid_body_modes(int dimensions, std::span<const double> coordinates);

}  // namespace block_eigs
