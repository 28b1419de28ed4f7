// The library with MPI.
#include "solver/factors/mumps.hpp"

namespace block_eigs::factors {

bool Mumps::serves(const Communicator&) { return true; }

}  // namespace block_eigs::factors
