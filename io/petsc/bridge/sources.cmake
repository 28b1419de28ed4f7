# The library `petsc`: PETSc matrices over and back, AMG levels and preconditioners out of PETSc.
block_eigs_library(petsc
  SOURCES
    ${petsc_shared_sources}
    bridge/petsc_columns.cpp
    bridge/petsc_dense_access${without_cuda}.cpp
    bridge/petsc_dense.cpp
    bridge/petsc_hierarchy.cpp
    bridge/petsc_matrix.cpp
    bridge/petsc_options.cpp
    bridge/petsc_preconditioner.cpp
    bridge/petsc_session.cpp
  PUBLIC block_eigs::spmm
  PRIVATE PkgConfig::PETSC OpenMP::OpenMP_CXX)
# libblock_eigs_petsc.so is the plug-in.
set_target_properties(block_eigs_petsc PROPERTIES OUTPUT_NAME block_eigs_petsc_bridge)
