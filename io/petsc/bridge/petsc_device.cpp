#include "io/petsc/bridge/petsc_device.hpp"

#include <petscdevice.h>

#include <cstring>
#include <set>

#include "io/petsc/bridge/petsc_check.hpp"

namespace block_eigs::petsc {

namespace {

constexpr const char* asking = "asking PETSc for its GPU";

PetscDeviceContext current_context() {
  PetscDeviceContext context = nullptr;
  check(PetscDeviceContextGetCurrentContext(&context), asking);
  return context;
}

void* stream_of(PetscDeviceContext context) {
  void* place = nullptr;
  void* stream = nullptr;
  check(PetscDeviceContextGetStreamHandle(context, &place), asking);
  std::memcpy(&stream, place, sizeof(stream));
  return stream;
}

/// The CUDA streams that PETSc may have work of vectors in; null is CUDA's default stream. One is that of the
/// current context, which programs can set; most operations on vectors take that of PETSc's null context, CUDA's
/// default stream, all the same (PETSc 3.25). As a rule the two are one.
std::set<void*> streams() { return {stream_of(current_context()), stream_of(nullptr)}; }

}  // namespace

std::optional<int> gpu_of_petsc() {
  PetscDevice device = nullptr;
  PetscDeviceType type = PETSC_DEVICE_HOST;
  PetscInt id = 0;
  check(PetscDeviceContextGetDevice(current_context(), &device), asking);
  check(PetscDeviceGetType(device, &type), asking);
  if (type != PETSC_DEVICE_CUDA) return std::nullopt;
  check(PetscDeviceGetDeviceId(device, &id), asking);
  return static_cast<int>(id);
}

void wait_for_petsc(Device& device) {
  for (void* const stream : streams()) device.wait_for_stream(Queue::compute, stream);
}

void let_petsc_wait(Device& device) {
  for (void* const stream : streams()) device.let_stream_wait(stream, Queue::compute);
}

}  // namespace block_eigs::petsc
