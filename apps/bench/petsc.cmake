# The Mat type blockcsr beside PETSc's own aij.
if(BLOCK_EIGS_HAVE_PETSC)
  add_executable(bench_petsc bench_petsc.cpp stream.cpp peers/petsc_product.cpp)
  target_link_libraries(bench_petsc PRIVATE block_eigs::io block_eigs::petsc block_eigs_petsc_plugin block_eigs_flags
    PkgConfig::PETSC OpenMP::OpenMP_CXX LAPACK::LAPACK fmt::fmt block_eigs_bench_line)
endif()
