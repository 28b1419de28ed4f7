// The sequential library, whose stand-in for MPI knows one rank.
#include "solver/factors/mumps.hpp"

namespace block_eigs::factors {

bool Mumps::serves(const Communicator& comm) { return comm.size() == 1; }

}  // namespace block_eigs::factors
