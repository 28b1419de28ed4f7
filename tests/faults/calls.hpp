#pragma once

#include <array>

namespace faults {

/// The arguments of a call as they came: those in registers, which may be changed, and those on the stack.
struct Arguments {
  std::array<long, 6> registers;
  long result;  ///< what the caller gets where the call is not made
  struct Call* call;
  std::array<float, 32> vectors;
};

/// What a call that fails looks like to its caller.
enum class Failure {
  minus_one,    ///< -1, and errno where the system would set it
  null,         ///< a null pointer, and errno
  zero,         ///< HDF5's word for "no size"
  code,         ///< the error itself: posix_memalign, CUDA
  mpi_handler,  ///< the communicator's error handler is called; then the code of the error
};

/// A function that stands in for one of the same name in a library. The real one is called with the caller's own
/// arguments unless the plan says that it fails.
struct alignas(64) Call {
  void* real;  ///< first: the trampoline knows its place
  const char* name;
  Failure failure;
  int communicator;        ///< MPI: number of the argument; below 0 there is none
  bool by_pointer;         ///< the communicator is behind a pointer
  bool made_all_the_same;  ///< what is closed is closed, and an error told of it
  int length;  ///< number of the argument that a short read or write makes smaller; below 0: there is none
  std::array<long, 3> counts;  ///< calls so far, by caller
};

/// All of them.
Call* begin();
Call* end();
Call* find(const char* name);

}  // namespace faults
