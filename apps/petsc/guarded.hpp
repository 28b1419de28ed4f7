#pragma once

#include <petscsys.h>

#include <functional>

namespace block_eigs::petsc {

/// Runs `step` and returns 0, or raises its exception as an error of PETSc's on the ranks of `object`, and returns
/// its code: PETSC_ERR_USER_INPUT for what is wrong with the problem, PETSC_ERR_LIB for what failed on the way.
PetscErrorCode guarded(PetscObject object, const std::function<void()>& step) noexcept;

/// One thread a rank, as PETSc programs have it, unless OMP_NUM_THREADS asks for more; as before when it is gone.
class ThreadsOfPetsc {
 public:
  ThreadsOfPetsc();
  ThreadsOfPetsc(const ThreadsOfPetsc&) = delete;
  ThreadsOfPetsc& operator=(const ThreadsOfPetsc&) = delete;
  ~ThreadsOfPetsc();

 private:
  int before_;
};

}  // namespace block_eigs::petsc
