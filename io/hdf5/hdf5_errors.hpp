#pragma once

#include <cstdint>
#include <string>

namespace block_eigs {

/// Keeps HDF5 from printing its error stack while it lives, then sets things back as they were.
class QuietHdf5 {
 public:
  QuietHdf5();
  QuietHdf5(const QuietHdf5&) = delete;
  QuietHdf5& operator=(const QuietHdf5&) = delete;
  ~QuietHdf5();

 private:
  int (*print_)(std::int64_t, void*) = nullptr;
  void* data_ = nullptr;
};

/// Starts HDF5 so that it is not ended with MPI or the process: ending, it falls over files whose closing has
/// failed, on a full disk for one. Of use before MPI_Init, in a process whose files are all closed by who opened
/// them.
void start_hdf5_for_good();

/// What HDF5 says of its last failure: the innermost entry of its error stack.
std::string hdf5_failure();

}  // namespace block_eigs
