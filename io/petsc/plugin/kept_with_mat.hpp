#pragma once

#include <petscmat.h>

#include <memory>

#include "io/petsc/bridge/petsc_check.hpp"

// Objects of ours that live with a PETSc matrix and are destroyed with it. Not collective; throw RunError.
namespace block_eigs::petsc {

template <class T>
PetscErrorCode destroy_kept(void* object) {
  delete static_cast<T*>(object);
  return {};
}

/// PETSc 3.23 gave the function that destroys what a container holds another name and another argument.
/// `Container` is PetscContainer: a template, so that the one which this PETSc lacks is not looked for.
template <class T, class Container>
int set_destroy(Container container) {
  // Some versions call the place that holds the pointer void*, some void**.
  const auto destroy_at = [](auto* place) {
    return destroy_kept<T>(*static_cast<void**>(static_cast<void*>(place)));
  };
  if constexpr (requires { PetscContainerSetCtxDestroy(container, destroy_at); }) {
    return PetscContainerSetCtxDestroy(container, destroy_at);
  } else {
    return PetscContainerSetUserDestroy(container, destroy_kept<T>);
  }
}

/// What is kept with `a` under the name `key`, null where there is nothing yet.
template <class T>
T* kept_with(Mat a, const char* key) {
  constexpr const char* doing = "asking a matrix for what is kept with it";
  PetscObject object = nullptr;
  check(PetscObjectQuery(reinterpret_cast<PetscObject>(a), key, &object), doing);
  if (object == nullptr) return nullptr;
  void* kept = nullptr;
  check(PetscContainerGetPointer(reinterpret_cast<PetscContainer>(object), &kept), doing);
  return static_cast<T*>(kept);
}

/// In place of what was kept under that name. Returns it.
template <class T>
T& keep_with(Mat a, const char* key, std::unique_ptr<T> kept) {
  constexpr const char* doing = "keeping what is set up once with a matrix";
  const auto object = reinterpret_cast<PetscObject>(a);
  PetscContainer container = nullptr;
  check(PetscContainerCreate(PetscObjectComm(object), &container), doing);
  check(PetscContainerSetPointer(container, kept.get()), doing);
  check(set_destroy<T>(container), doing);
  T& result = *kept.release();
  check(PetscObjectCompose(object, key, reinterpret_cast<PetscObject>(container)), doing);
  check(PetscContainerDestroy(&container), doing);
  return result;
}

}  // namespace block_eigs::petsc
