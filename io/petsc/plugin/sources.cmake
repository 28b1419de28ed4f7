# libblock_eigs_petsc.so: the Mat type blockcsr, loaded by any PETSc program (-dll_append) or linked beside PETSc.
# It is not linked with libpetsc: the one that loads it is the one that it uses, and functions are looked up when they
# are first called, after that PETSc has been checked.
set(gpu_products plugin/gpu_product_unavailable.cpp)
if(BLOCK_EIGS_HAVE_PETSC_CUDA)
  set(gpu_products plugin/gpu_matrix_part.cpp plugin/gpu_operators.cpp plugin/gpu_product.cpp)
endif()
add_library(block_eigs_petsc_plugin SHARED
  plugin/aij_parts.cpp
  ${gpu_products}
  plugin/mat_blockcsr.cpp
  plugin/mat_operators.cpp
  plugin/mat_options.cpp
  plugin/mat_product.cpp
  plugin/mat_vector_product.cpp
  plugin/plugin.cpp
  ${petsc_shared_sources})
set_target_properties(block_eigs_petsc_plugin PROPERTIES
  OUTPUT_NAME block_eigs_petsc
  EXPORT_NAME petsc_plugin
  CXX_VISIBILITY_PRESET hidden
  VISIBILITY_INLINES_HIDDEN ON
  PUBLIC_HEADER block_eigs_petsc.h)
target_include_directories(block_eigs_petsc_plugin SYSTEM PRIVATE ${PETSC_INCLUDE_DIRS})
target_link_libraries(block_eigs_petsc_plugin PRIVATE block_eigs::spmm block_eigs_flags OpenMP::OpenMP_CXX ${CMAKE_DL_LIBS})
target_link_options(block_eigs_petsc_plugin PRIVATE -Wl,-z,lazy -Wl,--exclude-libs,ALL)
target_include_directories(block_eigs_petsc_plugin INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(TARGETS block_eigs_petsc_plugin EXPORT block_eigs_targets COMPONENT petsc)
