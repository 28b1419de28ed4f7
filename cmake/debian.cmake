# cpack -G DEB: Debian packages, one a component. scripts/package --deb configures a build for them (BLOCK_EIGS_DEBIAN) and
# makes them; docs/install.md says what is in which.
if(NOT BLOCK_EIGS_DEBIAN)
  return()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME block-eigs)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has one of its own
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "the block-eigs authors <block-eigs@packages.invalid>")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS OFF)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

# block_eigs_debian_package(component NAME SECTION ... SUMMARY ... DESCRIPTION ... [SHLIBS] DEPENDS ...)
function(block_eigs_debian_package component)
  cmake_parse_arguments(arg "SHLIBS" "NAME;SECTION;SUMMARY;DESCRIPTION;RECOMMENDS" "DEPENDS;SCRIPTS" ${ARGN})
  string(TOUPPER ${component} upper)
  list(JOIN arg_DEPENDS ", " depends)
  foreach(pair "PACKAGE_NAME|${arg_NAME}" "PACKAGE_SECTION|${arg_SECTION}" "PACKAGE_DEPENDS|${depends}"
      "PACKAGE_RECOMMENDS|${arg_RECOMMENDS}" "PACKAGE_SHLIBDEPS|${arg_SHLIBS}" "PACKAGE_CONTROL_EXTRA|${arg_SCRIPTS}")
    string(REGEX MATCH "^([^|]*)\\|(.*)$" pair "${pair}")
    set(CPACK_DEBIAN_${upper}_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}" PARENT_SCOPE)
  endforeach()
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${arg_SUMMARY}\n${arg_DESCRIPTION}" PARENT_SCOPE)
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${component} PARENT_SCOPE)

  # What every package brings: the licence and the changes.
  set(debian ${PROJECT_SOURCE_DIR}/packaging/debian)
  set(made ${PROJECT_BINARY_DIR}/debian/${arg_NAME})
  file(MAKE_DIRECTORY ${made})
  configure_file(${debian}/copyright ${made}/copyright COPYONLY)
  execute_process(COMMAND gzip -9nc ${debian}/changelog OUTPUT_FILE ${made}/changelog.Debian.gz COMMAND_ERROR_IS_FATAL ANY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${debian}/changelog)
  install(FILES ${made}/copyright ${made}/changelog.Debian.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${arg_NAME}
    COMPONENT ${component})
  if(EXISTS ${debian}/${arg_NAME}.lintian-overrides)
    install(FILES ${debian}/${arg_NAME}.lintian-overrides RENAME ${arg_NAME}
      DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT ${component})
  endif()
endfunction()

# Programs of a processor's level refuse to be installed on one below it.
set(processor_check "")
if(BLOCK_EIGS_MARCH MATCHES "^x86-64-v[234]$")
  configure_file(${PROJECT_SOURCE_DIR}/packaging/debian/preinst.in ${PROJECT_BINARY_DIR}/debian/preinst @ONLY
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  set(processor_check ${PROJECT_BINARY_DIR}/debian/preinst)
endif()

block_eigs_debian_package(programs SHLIBS NAME block-eigs SECTION science DEPENDS openmpi-bin SCRIPTS ${processor_check}
  SUMMARY "eigenpairs and linear systems of large sparse symmetric matrices"
  DESCRIPTION "block-eigs computes a few to a few hundred eigenpairs of a large sparse
symmetric matrix, A x = lambda x or A x = lambda B x, by LOBPCG. block-solve
solves A X = F with many right-hand sides at once by block CG. Both read a
matrix from a file and a config in YAML, run on any number of MPI ranks, and
write HDF5.")
set(development_depends "block-eigs (= ${PROJECT_VERSION}-1)" g++ pkg-config libopenmpi-dev libhdf5-openmpi-dev libopenblas-dev
  liblapacke-dev libyaml-cpp-dev libfmt-dev libzip-dev zlib1g-dev)
if(BLOCK_EIGS_HAVE_MUMPS)
  list(APPEND development_depends libmumps-dev)
endif()
if(BLOCK_EIGS_HAVE_SCOTCH)
  list(APPEND development_depends libptscotch-dev)
endif()
if(BLOCK_EIGS_HAVE_PETSC)
  list(APPEND development_depends libpetsc-real-dev "block-eigs-petsc (= ${PROJECT_VERSION}-1)")
endif()
block_eigs_debian_package(development NAME libblock-eigs-dev SECTION libdevel DEPENDS ${development_depends}
  SUMMARY "block eigensolvers and linear solvers, C++ libraries"
  DESCRIPTION "Static libraries and headers of block-eigs with a package for CMake:
LOBPCG and block CG on distributed sparse matrices, on GPUs and CPUs. An
example is in /usr/share/block_eigs/example.")
if(BLOCK_EIGS_HAVE_PETSC)
  block_eigs_debian_package(petsc SHLIBS NAME block-eigs-petsc SECTION science SCRIPTS ${processor_check}
      ${PROJECT_SOURCE_DIR}/packaging/debian/petsc/triggers
    DEPENDS libpetsc-real${petsc_minor_version}
    SUMMARY "block eigensolvers and linear solvers, plug-ins for PETSc and SLEPc"
    DESCRIPTION "Libraries that PETSc programs load with -dll_append: the matrix type blockcsr,
the linear solver blockcg and, for SLEPc, the eigensolver blockeigs.")
endif()
if(BLOCK_EIGS_PYTHON_SITE)
  get_property(python_minor GLOBAL PROPERTY BLOCK_EIGS_PYTHON_MINOR)
  math(EXPR next_minor "${python_minor} + 1")
  set(python_scripts ${PROJECT_SOURCE_DIR}/packaging/debian/python/postinst ${PROJECT_SOURCE_DIR}/packaging/debian/python/prerm)
  block_eigs_debian_package(python SHLIBS NAME python3-block-eigs SECTION python SCRIPTS ${python_scripts} ${processor_check}
    DEPENDS "python3 (>= 3.${python_minor})" "python3 (<< 3.${next_minor})" python3-numpy python3-scipy
    RECOMMENDS "openmpi-bin, python3-h5py, python3-matplotlib, python3-mpi4py"
    SUMMARY "block eigensolvers and linear solvers, Python package"
    DESCRIPTION "The functions eigsh and solve for sparse matrices of SciPy in memory, with the
arguments of scipy.sparse.linalg.eigsh, and reports and pictures of runs.")
endif()
include(CPack)
