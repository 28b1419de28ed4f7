#include "io/petsc/bridge/petsc_check.hpp"

#include <petscmat.h>

#include <exception>
#include <string>

#include "spmm/error.hpp"

namespace block_eigs::petsc {

namespace {

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

/// Functions of the program may return numbers that are none of PETSc's (petsc4py: -1); what PETSc said last is
/// then of another failure.
std::string failure(int code, const char* doing) {
  std::string text;
  if (code >= PETSC_ERR_MIN_VALUE) text = explanation(PetscErrorMessage, static_cast<PetscErrorCode>(code));
  if (text.empty()) text = "error " + std::to_string(code);
  return std::string(doing) + ": PETSc says: " + text;
}

}  // namespace

void check(int code, const char* doing) {
  if (code != 0 && code < PETSC_ERR_MIN_VALUE) throw CallbackError(failure(code, doing), code);
  if (code != 0) throw RunError(failure(code, doing));
}

void check_input(int code, const char* doing) {
  if (code != 0) throw InputError(failure(code, doing));
}

int guarded(_p_Mat* a, const std::function<void()>& step) noexcept {
  try {
    step();
    return 0;
  } catch (const CallbackError& error) {
    return error.code();
  } catch (const std::exception& error) {
    return PetscError(PetscObjectComm(reinterpret_cast<PetscObject>(a)), __LINE__, "block_eigs", __FILE__,
                      PETSC_ERR_LIB, PETSC_ERROR_INITIAL, "%s", error.what());
  }
}

}  // namespace block_eigs::petsc
