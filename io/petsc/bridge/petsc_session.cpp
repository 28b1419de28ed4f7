#include "io/petsc/bridge/petsc_session.hpp"

#include <petscsys.h>

#include <array>
#include <memory>
#include <string>

namespace block_eigs::petsc {

namespace {

/// The communicator that PETSc was started on by `initialize`, empty where it was not.
std::unique_ptr<Communicator>& world() {
  static std::unique_ptr<Communicator> comm;
  return comm;
}

}  // namespace

void initialize(const Communicator& comm) {
  PetscBool initialized = PETSC_FALSE;
  check(PetscInitialized(&initialized), "asking whether PETSc runs");
  if (initialized) return;
  world() = std::make_unique<Communicator>(comm.handle());
  PETSC_COMM_WORLD = world()->handle();
  // PETSc keeps the pointers, not copies.
  static std::array<std::string, 3> words{"block-eigs", "-no_signal_handler", "-skip_petscrc"};
  static std::array<char*, 4> arguments{words[0].data(), words[1].data(), words[2].data(), nullptr};
  int count = static_cast<int>(words.size());
  char** list = arguments.data();
  check(PetscInitialize(&count, &list, nullptr, nullptr), "starting PETSc");
  check(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr), "starting PETSc");
}

void finalize() noexcept {
  if (!world()) return;
  // Errors at the very end have nobody left to hear them.
  static_cast<void>(PetscPopErrorHandler());
  static_cast<void>(PetscFinalize());
  world().reset();
}

std::string description() {
  PetscInt major = 0;
  PetscInt minor = 0;
  PetscInt subminor = 0;
  check(PetscGetVersionNumber(&major, &minor, &subminor, nullptr), "asking for PETSc's version");
  return "PETSc " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(subminor) +
         ", real double, " + std::to_string(8 * sizeof(PetscInt)) + "-bit indices";
}

}  // namespace block_eigs::petsc
