#include "io/petsc/plugin/mat_blockcsr.hpp"

#include <petsc/private/matimpl.h>

#include <array>
#include <string>

#include "io/petsc/plugin/mat_operators.hpp"
#include "io/petsc/plugin/mat_product.hpp"
#include "io/petsc/plugin/mat_vector_product.hpp"

namespace block_eigs::petsc {

namespace {

using Operation = void (*)();

/// One of the two classes, and what of its parent it overrides. The parent's functions are private to PETSc: they
/// are read off a matrix of the parent's type before it is turned into one of ours.
struct Class {
  const char* name;
  const char* parent;
  const char* dense;
  PetscErrorCode (*parent_mult)(Mat, Vec, Vec) = nullptr;
  PetscErrorCode (*parent_mult_add)(Mat, Vec, Vec, Vec) = nullptr;
};

Class sequential{"seqaijblockcsr", MATSEQAIJ, MATSEQDENSE};
Class parallel{"mpiaijblockcsr", MATMPIAIJ, MATMPIDENSE};

PetscErrorCode class_of(Mat a, Class** found) {
  PetscBool is_parallel = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(a), MATMPIAIJ, &is_parallel));
  *found = is_parallel ? &parallel : &sequential;
  PetscFunctionReturn(PetscErrorCode{});
}

std::string converter(const char* from, const char* to) {
  return std::string("MatConvert_") + from + "_" + to + "_C";
}

std::string product(const char* left, const char* right) {
  return std::string("MatProductSetFromOptions_") + left + "_" + right + "_C";
}

PetscErrorCode compose(Mat a, const std::string& name, Operation function) {
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(a), name.c_str(), function));
  PetscFunctionReturn(PetscErrorCode{});
}

/// What the parent type is known to do under its own name, it does under ours.
PetscErrorCode inherit(Mat a, const std::string& parents_name, const std::string& own_name) {
  Operation function = nullptr;
  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction(reinterpret_cast<PetscObject>(a), parents_name.c_str(), &function));
  if (function != nullptr) PetscCall(compose(a, own_name, function));
  PetscFunctionReturn(PetscErrorCode{});
}

PetscErrorCode promote(Mat a);
PetscErrorCode to_parent(Mat a, MatType, MatReuse reuse, Mat* result);
PetscErrorCode to_blockcsr(Mat a, MatType, MatReuse reuse, Mat* result);

/// Types that have no converter of their own go through the parent's type, which keeps zeros out where they do.
PetscErrorCode other_to_blockcsr(Mat a, MatType, MatReuse reuse, Mat* result) {
  Mat ours = nullptr;
  PetscFunctionBegin;
  PetscCall(MatConvert(a, MATAIJ, MAT_INITIAL_MATRIX, &ours));
  PetscCall(promote(ours));
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(MatCopy(ours, *result, SAME_NONZERO_PATTERN));
    PetscCall(MatDestroy(&ours));
  } else if (reuse == MAT_INPLACE_MATRIX) {
    PetscCall(MatHeaderReplace(a, &ours));
  } else {
    *result = ours;
  }
  PetscFunctionReturn(PetscErrorCode{});
}

PetscErrorCode compose_functions(Mat a, const Class& type) {
  constexpr std::array others{"hypre",    "seqdense", "mpidense", "seqbaij", "mpibaij",   "seqsbaij",
                              "mpisbaij", "seqsell",  "mpisell",  "is",      "elemental", "scalapack"};
  const auto from_ours = reinterpret_cast<Operation>(to_parent);
  const auto to_ours = reinterpret_cast<Operation>(to_blockcsr);
  const auto other_to_ours = reinterpret_cast<Operation>(other_to_blockcsr);
  const auto multiply = reinterpret_cast<Operation>(set_dense_product);
  PetscFunctionBegin;
  PetscCall(compose(a, converter(type.name, type.parent), from_ours));
  // A matrix of the parent's type has not heard of us: PETSc then asks an empty matrix of the type it wants, and
  // on one rank that is a sequential one whatever the matrix to convert is.
  for (const Class* from : {&sequential, &parallel}) {
    for (const char* name : {from->parent, from->name}) {
      PetscCall(compose(a, converter(name, "blockcsr"), to_ours));
      PetscCall(compose(a, converter(name, from->name), to_ours));
    }
  }
  for (const char* other : others) {
    PetscCall(inherit(a, converter(type.parent, other), converter(type.name, other)));
    PetscCall(compose(a, converter(other, "blockcsr"), other_to_ours));
    PetscCall(compose(a, converter(other, type.name), other_to_ours));
  }
  for (const char* where : {"", "cuda"}) {
    const std::string dense = std::string(type.dense) + where;
    PetscCall(compose(a, product(type.name, dense.c_str()), multiply));
    PetscCall(compose(a, product(dense.c_str(), type.name), multiply));
  }
  PetscCall(inherit(a, product("is", type.parent), product("is", type.name)));
  PetscFunctionReturn(PetscErrorCode{});
}

/// A matrix of the parent's type becomes one of ours in place.
PetscErrorCode promote(Mat a) {
  Class* type = nullptr;
  PetscBool is_parent = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(class_of(a, &type));
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(a), type->parent, &is_parent));
  if (!is_parent) PetscFunctionReturn(PetscErrorCode{});
  type->parent_mult = a->ops->mult;
  type->parent_mult_add = a->ops->multadd;
  a->ops->mult = multiply_vector;
  a->ops->multadd = multiply_vector_add;
  PetscCall(compose_functions(a, *type));
  PetscCall(PetscObjectChangeTypeName(reinterpret_cast<PetscObject>(a), type->name));
  PetscFunctionReturn(PetscErrorCode{});
}

/// And back. Functions that are known by our name stay: nothing asks for them any more.
PetscErrorCode demote(Mat a) {
  Class* type = nullptr;
  PetscFunctionBegin;
  PetscCall(class_of(a, &type));
  a->ops->mult = type->parent_mult;
  a->ops->multadd = type->parent_mult_add;
  for (const char* key : {host_operators_key, gpu_operators_key}) {
    PetscCall(PetscObjectCompose(reinterpret_cast<PetscObject>(a), key, nullptr));
  }
  PetscCall(PetscObjectChangeTypeName(reinterpret_cast<PetscObject>(a), type->parent));
  PetscFunctionReturn(PetscErrorCode{});
}

PetscErrorCode convert(Mat a, MatReuse reuse, Mat* result, PetscErrorCode (*change)(Mat)) {
  PetscFunctionBegin;
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(MatCopy(a, *result, SAME_NONZERO_PATTERN));
    PetscFunctionReturn(PetscErrorCode{});
  }
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(a, MAT_COPY_VALUES, result));
  PetscCall(change(*result));
  PetscFunctionReturn(PetscErrorCode{});
}

PetscErrorCode to_parent(Mat a, MatType, MatReuse reuse, Mat* result) { return convert(a, reuse, result, demote); }
PetscErrorCode to_blockcsr(Mat a, MatType, MatReuse reuse, Mat* result) {
  return convert(a, reuse, result, promote);
}

PetscErrorCode create_sequential(Mat a) {
  PetscFunctionBegin;
  PetscCall(MatSetType(a, MATSEQAIJ));
  PetscCall(promote(a));
  PetscFunctionReturn(PetscErrorCode{});
}

PetscErrorCode create_parallel(Mat a) {
  PetscFunctionBegin;
  PetscCall(MatSetType(a, MATMPIAIJ));
  PetscCall(promote(a));
  PetscFunctionReturn(PetscErrorCode{});
}

PetscErrorCode register_types() {
  PetscFunctionBegin;
  PetscCall(MatRegisterRootName("blockcsr", sequential.name, parallel.name));
  PetscCall(MatRegister(sequential.name, create_sequential));
  PetscCall(MatRegister(parallel.name, create_parallel));
  PetscFunctionReturn(PetscErrorCode{});
}

}  // namespace

int register_blockcsr() noexcept { return register_types(); }

}  // namespace block_eigs::petsc
