#pragma once

#include <functional>
#include <string>

#include "io/petsc/bridge/petsc_handles.hpp"
#include "spmm/error.hpp"

namespace block_eigs::petsc {

/// A function of the program's failed with a number of its own, none of PETSc's, which belongs to who called us:
/// petsc4py raises its exception of Python again for its -1.
class CallbackError : public RunError {
 public:
  CallbackError(const std::string& message, int code) : RunError(message), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

/// Throws RunError (CallbackError where the number is none of PETSc's) unless a PETSc function returned 0: `code`
/// is its PetscErrorCode, `doing` says what was tried, for the message: "building the PETSc preconditioner". What
/// PETSc said first is in the message. Not collective.
void check(int code, const char* doing);
/// As `check`, where the user's input is to blame: throws InputError.
void check_input(int code, const char* doing);

/// The other way round, where PETSc calls us: runs `step` and returns 0, or raises its exception as an error of
/// PETSc's on the ranks of `a` and returns the error code.
int guarded(_p_Mat* a, const std::function<void()>& step) noexcept;

}  // namespace block_eigs::petsc
