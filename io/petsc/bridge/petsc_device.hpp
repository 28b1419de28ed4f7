#pragma once

#include <optional>

#include "spmm/device/device.hpp"

// PETSc's GPU and its order of work. Not collective; throws RunError where PETSc fails. Where this build or its
// PETSc has no CUDA there is no such GPU, and nothing to wait for.
namespace block_eigs::petsc {

/// Number of the GPU that PETSc has given to this rank, whatever the rule: vectors live there.
std::optional<int> gpu_of_petsc();

/// What is put into the device's compute queue from now on starts after all that PETSc has put into its streams.
void wait_for_petsc(Device& device);
/// What PETSc puts into its streams from now on starts after all that is in the device's compute queue.
void let_petsc_wait(Device& device);

}  // namespace block_eigs::petsc
