#include "tests/app/illegal_access.hpp"

namespace block_eigs::test {

namespace {

__global__ void write_to(double* place) { *place = 1.0; }

}  // namespace

void access_illegal_address() { write_to<<<1, 1>>>(reinterpret_cast<double*>(0x10)); }

}  // namespace block_eigs::test
