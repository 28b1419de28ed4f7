#include "solver/small/lapack_buffers.hpp"

#include <string>

#include "solver/small/lapack.hpp"
#include "spmm/device/address_space.hpp"
#include "spmm/error.hpp"

extern "C" {
// Null where BLAS is not OpenBLAS.
[[gnu::weak]] int openblas_get_num_threads();
// Null where it is not MKL.
[[gnu::weak]] int MKL_Get_Max_Threads();
}

namespace block_eigs::lapack {

int blas_threads() { return openblas_get_num_threads != nullptr ? openblas_get_num_threads() : 1; }

bool keeps_order_of_sums() { return MKL_Get_Max_Threads == nullptr || MKL_Get_Max_Threads() == 1; }

void reserve_buffers() {
  // Some of the room is for what else moves in meanwhile: threads of MPI, say.
  constexpr std::size_t margin = std::size_t{8} << 20;
  static bool reserved = false;
  if (reserved) return;
  if (openblas_get_num_threads != nullptr && !has_room_for(blas_buffer_bytes + margin)) {
    throw of_memory(RunError("out of memory: OpenBLAS needs " + std::to_string(blas_buffer_bytes >> 20) +
                             " MiB of address space for small dense problems" + address_space_remark()));
  }
  // Triangular solves take the buffer whatever their size; products of small matrices do without.
  constexpr int n = 64;
  SmallMatrix matrix(n, n);
  for (int i = 0; i < n; ++i) matrix(i, i) = 1.0;
  SmallMatrix right(n, n);
  cholesky(matrix);
  solve_lower(matrix, right);
  reserved = true;
}

}  // namespace block_eigs::lapack
