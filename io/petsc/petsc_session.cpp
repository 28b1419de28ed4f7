#include "io/petsc/petsc_session.hpp"

#include <petscsys.h>

#include <array>
#include <memory>
#include <string>

#include "spmm/error.hpp"

namespace block_eigs::petsc {

namespace {

/// The communicator that PETSc was started on by `initialize`, empty where it was not.
std::unique_ptr<Communicator>& world() {
  static std::unique_ptr<Communicator> comm;
  return comm;
}

/// What PETSc says of `code`. The message is char* in older versions of PETSc and const char* since: deduced.
template <class Char>
std::string explanation(PetscErrorCode (*explain)(PetscErrorCode, const char**, Char**), PetscErrorCode code) {
  const char* kind = nullptr;
  Char* message = nullptr;
  if (explain(code, &kind, &message) != 0) return {};
  std::string text = kind != nullptr ? kind : "";
  if (message == nullptr || *message == '\0') return text;
  return text.empty() ? message : text + ": " + message;
}

std::string failure(int code, const char* doing) {
  std::string text = explanation(PetscErrorMessage, static_cast<PetscErrorCode>(code));
  if (text.empty()) text = "error " + std::to_string(code);
  return std::string(doing) + ": PETSc says: " + text;
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

void check(int code, const char* doing) {
  if (code != 0) throw RunError(failure(code, doing));
}

void check_input(int code, const char* doing) {
  if (code != 0) throw InputError(failure(code, doing));
}

}  // namespace block_eigs::petsc
