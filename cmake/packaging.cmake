# cmake --install: programs, libraries, public headers, and what find_package(block_eigs) needs. Its components are programs,
# development, petsc (the plug-ins) and, where asked for, python.

get_property(libraries GLOBAL PROPERTY BLOCK_EIGS_LIBRARIES)
install(TARGETS ${libraries} block_eigs_hdf5 block_eigs_mumps block_eigs_scotch EXPORT block_eigs_targets COMPONENT development)

# Headers keep their places: #include "solver/lobpcg/lobpcg.hpp". Backends are reached through Device and Kernels, the plug-in
# through PETSc.
foreach(room spmm solver io)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/block_eigs COMPONENT development
    FILES_MATCHING PATTERN "*.hpp"
    PATTERN host EXCLUDE
    PATTERN cuda EXCLUDE
    PATTERN io/petsc/plugin EXCLUDE)
endforeach()

foreach(program block-eigs block-solve)
  if(TARGET ${program})
    install(TARGETS ${program} COMPONENT programs)
  endif()
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/CITATION.cff ${PROJECT_SOURCE_DIR}/README.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT programs)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/configs DESTINATION ${CMAKE_INSTALL_DOCDIR}
  COMPONENT programs PATTERN __pycache__ EXCLUDE)

# The plug-ins for those who link them: pkg-config files, each beside the PETSc or SLEPc that it belongs to.
# The prefix is where the file is found.
file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" to_prefix "${to_prefix}")
function(block_eigs_plugin_pc name needs description)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/block_eigs_${name}.pc @ONLY CONTENT
"prefix=\${pcfiledir}/@to_prefix@
libdir=\${prefix}/@CMAKE_INSTALL_LIBDIR@
includedir=\${prefix}/@CMAKE_INSTALL_INCLUDEDIR@

Name: block_eigs_@name@
Description: @description@
Version: @PROJECT_VERSION@
Requires: @needs@
Cflags: -I\${includedir}
Libs: -L\${libdir} -Wl,-rpath,\${libdir} -lblock_eigs_@name@
")
  install(FILES ${PROJECT_BINARY_DIR}/block_eigs_${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT petsc)
endfunction()
if(TARGET block_eigs_petsc_plugin)
  block_eigs_plugin_pc(petsc ${PETSC_MODULE_NAME} "The PETSc matrix type blockcsr")
endif()
if(TARGET block_eigs_ksp_plugin)
  block_eigs_plugin_pc(ksp ${PETSC_MODULE_NAME} "The PETSc solver type blockcg")
endif()
if(TARGET block_eigs_slepc_plugin)
  block_eigs_plugin_pc(slepc "${SLEPC_MODULE_NAME} ${PETSC_MODULE_NAME}" "The SLEPc solver type blockeigs")
endif()

# What MPI wants to be told, with the programs of the prefix on the PATH, and the example of find_package.
file(READ ${PROJECT_SOURCE_DIR}/scripts/environment environment)
string(REPLACE "/..\" && pwd)/build/release" "/../..\" && pwd)/${CMAKE_INSTALL_BINDIR}" environment "${environment}")
file(WRITE ${PROJECT_BINARY_DIR}/environment "${environment}")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/scripts/environment)
install(FILES ${PROJECT_BINARY_DIR}/environment DESTINATION ${CMAKE_INSTALL_DATADIR}/block_eigs COMPONENT programs)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tests/install_example/ DESTINATION ${CMAKE_INSTALL_DATADIR}/block_eigs/example
  COMPONENT development)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/block_eigs)
install(EXPORT block_eigs_targets NAMESPACE block_eigs:: DESTINATION ${package_dir} COMPONENT development)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/block_eigs-config.cmake.in
  ${PROJECT_BINARY_DIR}/block_eigs-config.cmake INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/block_eigs-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/block_eigs-config.cmake ${PROJECT_BINARY_DIR}/block_eigs-config-version.cmake
  DESTINATION ${package_dir} COMPONENT development)

# For `module load block-eigs` after `module use PREFIX/share/modulefiles`, with Lmod as with Environment Modules.
if(NOT BLOCK_EIGS_DEBIAN)
  file(RELATIVE_PATH module_to_prefix /${CMAKE_INSTALL_DATADIR}/modulefiles/block-eigs /)
  string(REGEX REPLACE "/$" "" module_to_prefix "${module_to_prefix}")
  configure_file(${PROJECT_SOURCE_DIR}/packaging/modules/block-eigs.in ${PROJECT_BINARY_DIR}/modulefile @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/modulefile RENAME ${PROJECT_VERSION}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/modulefiles/block-eigs COMPONENT programs)
endif()

include(manual)
include(debian)
