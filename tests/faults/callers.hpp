#pragma once

namespace faults {

/// Who makes a call.
enum class Caller : int {
  program,    ///< the program itself, with what C++ and the parsers do for it
  libraries,  ///< HDF5, OpenBLAS, zlib, libzip, PT-Scotch: on the program's behalf, but with code of their own
  factors,    ///< MUMPS, which answers for its own memory
  others      ///< MPI and what it starts, PETSc, the system's own library: not ours to test
};

/// Notes what is loaded now; what is loaded later is none of ours.
void note_objects();

/// Whose code is at `address`. Takes no lock and no memory.
Caller caller(const void* address);

}  // namespace faults
