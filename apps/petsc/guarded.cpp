#include "apps/petsc/guarded.hpp"

#include <omp.h>

#include <cstdlib>
#include <exception>

#include "io/petsc/bridge/petsc_check.hpp"
#include "spmm/error.hpp"

namespace block_eigs::petsc {

namespace {

PetscErrorCode code_of(const std::exception& error) {
  const auto* const ours = dynamic_cast<const Error*>(&error);
  const bool input = ours != nullptr && ours->exit_code() == ExitCode::invalid_input;
  return static_cast<PetscErrorCode>(input ? PETSC_ERR_USER_INPUT : PETSC_ERR_LIB);
}

}  // namespace

PetscErrorCode guarded(PetscObject object, const std::function<void()>& step) noexcept {
  try {
    step();
    return static_cast<PetscErrorCode>(0);
  } catch (const CallbackError& error) {
    return static_cast<PetscErrorCode>(error.code());
  } catch (const std::exception& error) {
    return PetscError(PetscObjectComm(object), __LINE__, "block_eigs", __FILE__, code_of(error),
                      PETSC_ERROR_INITIAL, "%s", error.what());
  }
}

ThreadsOfPetsc::ThreadsOfPetsc() : before_(omp_get_max_threads()) {
  if (std::getenv("OMP_NUM_THREADS") == nullptr) omp_set_num_threads(1);
}

ThreadsOfPetsc::~ThreadsOfPetsc() { omp_set_num_threads(before_); }

}  // namespace block_eigs::petsc
