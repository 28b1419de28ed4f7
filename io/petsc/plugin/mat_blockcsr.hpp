#pragma once

namespace block_eigs::petsc {

/// Makes the Mat type blockcsr known to the PETSc that runs: seqaijblockcsr and mpiaijblockcsr, subclasses of
/// PETSc's AIJ types that differ in their products alone. Returns a PetscErrorCode. Not collective.
int register_blockcsr() noexcept;

}  // namespace block_eigs::petsc
