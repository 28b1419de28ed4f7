# cmake --install: programs, libraries, public headers, and what find_package(block_eigs) needs.

get_property(libraries GLOBAL PROPERTY BLOCK_EIGS_LIBRARIES)
install(TARGETS ${libraries} block_eigs_hdf5 block_eigs_scotch EXPORT block_eigs_targets)

# Headers keep their places: #include "solver/lobpcg/lobpcg.hpp". Backends are reached through Device and Kernels, the plug-in
# through PETSc.
foreach(room spmm solver io)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/block_eigs
    FILES_MATCHING PATTERN "*.hpp"
    PATTERN host EXCLUDE
    PATTERN cuda EXCLUDE
    PATTERN io/petsc/plugin EXCLUDE)
endforeach()

foreach(program block-eigs block-solve)
  if(TARGET ${program})
    install(TARGETS ${program})
  endif()
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/CITATION.cff ${PROJECT_SOURCE_DIR}/README.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/configs DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/block_eigs)
install(EXPORT block_eigs_targets NAMESPACE block_eigs:: DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/block_eigs-config.cmake.in
  ${PROJECT_BINARY_DIR}/block_eigs-config.cmake INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/block_eigs-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/block_eigs-config.cmake ${PROJECT_BINARY_DIR}/block_eigs-config-version.cmake
  DESTINATION ${package_dir})
