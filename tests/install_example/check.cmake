# Installs the build into a scratch folder, then configures, builds and runs the example against it, as another
# project would. Every installed header must compile without the third-party headers of the build.
#
#   cmake -DBUILD=<build tree> -DSOURCE=<this folder> -DWORK=<scratch folder> -DCXX=<compiler>
#         -DMPIEXEC=<mpiexec> -DNUMPROC_FLAG=<-n> -P check.cmake
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${result}\n${output}")
  endif()
  message(STATUS "${output}")
  set(run_output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)

# A second source beside the example includes every public header.
file(GLOB_RECURSE headers RELATIVE ${WORK}/prefix/include/block_eigs ${WORK}/prefix/include/block_eigs/*.hpp)
if(NOT headers)
  message(FATAL_ERROR "no header was installed under ${WORK}/prefix/include/block_eigs")
endif()
set(text "")
foreach(header ${headers})
  string(APPEND text "#include \"${header}\"\n")
endforeach()
file(COPY ${SOURCE}/ DESTINATION ${WORK}/source)
file(WRITE ${WORK}/source/every_header.cpp "${text}")
file(APPEND ${WORK}/source/CMakeLists.txt "target_sources(first_own_program PRIVATE every_header.cpp)\n")

run(${CMAKE_COMMAND} -S ${WORK}/source -B ${WORK}/build -G Ninja -DCMAKE_PREFIX_PATH=${WORK}/prefix
  -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS=${FLAGS}")
run(${CMAKE_COMMAND} --build ${WORK}/build -j 2)
run(${WORK}/build/first_own_program)
run(${MPIEXEC} ${NUMPROC_FLAG} 2 ${WORK}/build/first_own_program)
file(WRITE ${WORK}/matrix.mtx
  "%%MatrixMarket matrix coordinate real symmetric\n6 6 6\n1 1 1\n2 2 2\n3 3 3\n4 4 4\n5 5 5\n6 6 6\n")
run(${WORK}/build/first_own_program ${WORK}/matrix.mtx)
if(NOT run_output MATCHES "^1\\.0+ .*\n2\\.0+ .*\n5\\.0+ ")
  message(FATAL_ERROR "the eigenvalues of diag(1, ..., 6) came out as\n${run_output}")
endif()

# The plug-ins by pkg-config, the line of docs/petsc.md; and what else is in the prefix.
file(GLOB_RECURSE slepc_pc ${WORK}/prefix/block_eigs_slepc.pc)
if(slepc_pc)
  get_filename_component(folder ${slepc_pc} DIRECTORY)
  run(sh -c "cd ${WORK} && PKG_CONFIG_PATH=${folder}:$PKG_CONFIG_PATH && export PKG_CONFIG_PATH && \
mpicc ${SOURCE}/../petsc/programs/linked.c -o linked $(pkg-config --cflags --libs block_eigs_petsc block_eigs_ksp block_eigs_slepc)")
  run(${MPIEXEC} ${NUMPROC_FLAG} 2 ${WORK}/linked)
  if(NOT run_output MATCHES "all types are there")
    message(FATAL_ERROR "the linked program said: ${run_output}")
  endif()
endif()
run(sh -c "bash -c '. ${WORK}/prefix/share/block_eigs/environment && command -v block-eigs'")
if(NOT run_output MATCHES "${WORK}/prefix/bin/block-eigs")
  message(FATAL_ERROR "the environment of the prefix finds ${run_output}")
endif()
find_program(TCLSH tclsh)
file(GLOB modulefile ${WORK}/prefix/share/modulefiles/block-eigs/*)
if(TCLSH)  # what the modules command does with the file
  file(WRITE ${WORK}/module.tcl "proc prepend-path {name path} {puts \"$name=$path\"}
foreach word {module-whatis conflict setenv} {proc $word args {}}
set ModulesCurrentModulefile ${modulefile}
source $ModulesCurrentModulefile\n")
  run(${TCLSH} ${WORK}/module.tcl)
  if(NOT run_output MATCHES "(^|\n)PATH=${WORK}/prefix/bin\n" OR NOT run_output MATCHES "MANPATH=${WORK}/prefix/share/man\n")
    message(FATAL_ERROR "the module file sets ${run_output}")
  endif()
elseif(NOT EXISTS ${modulefile})
  message(FATAL_ERROR "no module file in the prefix")
endif()
foreach(file share/man/man1/block-eigs.1 share/man/man5/block-eigs-config.5 share/bash-completion/completions/block-solve)
  if(NOT EXISTS ${WORK}/prefix/${file})
    message(FATAL_ERROR "${file} is not in the prefix")
  endif()
endforeach()
if(NOT EXISTS ${WORK}/prefix/share/block_eigs/example/first_own_program.cpp)
  message(FATAL_ERROR "the example is not in the prefix")
endif()
