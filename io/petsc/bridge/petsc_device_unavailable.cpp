#include "io/petsc/bridge/petsc_device.hpp"

namespace block_eigs::petsc {

std::optional<int> gpu_of_petsc() { return std::nullopt; }
void wait_for_petsc(Device&) {}
void let_petsc_wait(Device&) {}

}  // namespace block_eigs::petsc
