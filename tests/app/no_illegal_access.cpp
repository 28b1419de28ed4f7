#include "tests/app/illegal_access.hpp"

// Stands in where there is no CUDA backend.
namespace block_eigs::test {

void access_illegal_address() {}

}  // namespace block_eigs::test
