# The bridge to PETSc; everything here needs PETSc at build time.
if(NOT BLOCK_EIGS_HAVE_PETSC)
  return()
endif()

# The Mat type blockcsr: each operation beside that of PETSc's aij.
set(blockcsr_libraries block_eigs_petsc_plugin block_eigs::petsc PkgConfig::PETSC)
foreach(part vector operations product)
  block_eigs_test(petsc_mat_${part} SOURCES petsc/mat_${part}_test.cpp RANKS 1 2 3 4 LABELS petsc TIMEOUT 120
    LIBRARIES ${blockcsr_libraries})
endforeach()
block_eigs_test(petsc_mat_mpi_calls SOURCES petsc/mat_mpi_calls_test.cpp petsc/mpi_calls.cpp RANKS 1 2 3 4 LABELS petsc
  TIMEOUT 120 LIBRARIES ${blockcsr_libraries})
block_eigs_test(petsc_matrix SOURCES petsc/petsc_matrix_test.cpp RANKS 1 2 3 4 LABELS petsc TIMEOUT 120
  LIBRARIES ${blockcsr_libraries})
