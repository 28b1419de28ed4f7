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

# The same on PETSc's CUDA types.
set(petsc_gpu_sources petsc/mat_gpu_test.cpp)
if(BLOCK_EIGS_HAVE_PETSC_CUDA)
  list(APPEND petsc_gpu_sources petsc/mat_gpu_memory_test.cpp)
endif()
block_eigs_test(petsc_mat_gpu SOURCES ${petsc_gpu_sources} RANKS 1 2 3 LABELS gpu TIMEOUT 300
  LIBRARIES ${blockcsr_libraries})
set_tests_properties(petsc_mat_gpu.1 petsc_mat_gpu.2 petsc_mat_gpu.3 PROPERTIES
  SKIP_REGULAR_EXPRESSION "this machine has no GPU|this PETSc has no CUDA")

# PETSc's CUDA types want to be told where MPI does not know GPUs.
set(petsc_gpu_environment "PETSC_OPTIONS=-use_gpu_aware_mpi 0")
foreach(ranks 1 2 3)
  set_property(TEST petsc_mat_gpu.${ranks} APPEND PROPERTY ENVIRONMENT "${petsc_gpu_environment}")
endforeach()

# On load: the plug-in meets a PETSc that it was not built for.
block_eigs_test(petsc_plugin_check SOURCES petsc/plugin_check_test.cpp petsc/other_petsc.cpp LABELS petsc TIMEOUT 60
  LIBRARIES ${blockcsr_libraries})

# Programs that know nothing of block-eigs load the plug-in by an option.
add_executable(petsc_systems petsc/programs/systems.c)
target_link_libraries(petsc_systems PRIVATE PkgConfig::PETSC MPI::MPI_C m)
set(petsc_eigenvalues "")
if(BLOCK_EIGS_HAVE_SLEPC)
  add_executable(petsc_eigenvalues petsc/programs/eigenvalues.c)
  target_link_libraries(petsc_eigenvalues PRIVATE PkgConfig::SLEPC PkgConfig::PETSC MPI::MPI_C m)
  set(petsc_eigenvalues --eigenvalues $<TARGET_FILE:petsc_eigenvalues>)
endif()
if(BLOCK_EIGS_PYTHON)
  # Debian keeps petsc4py beside the PETSc that it belongs to.
  set(petsc_python_path "")
  foreach(folder ${PETSC_LIBRARY_DIRS})
    string(APPEND petsc_python_path "${folder}/python3/dist-packages:")
  endforeach()
  foreach(folder ${SLEPC_LIBRARY_DIRS})
    string(APPEND petsc_python_path "${folder}/python3/dist-packages:")
  endforeach()
  foreach(ranks 1 2 3 4)
    set(launcher "")
    if(ranks GREATER 1)
      set(launcher ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${BLOCK_EIGS_MPIEXEC_FLAGS})
    endif()
    set(programs_test ${BLOCK_EIGS_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/petsc/programs_test.py
      --plugin $<TARGET_FILE:block_eigs_petsc_plugin> --systems $<TARGET_FILE:petsc_systems> ${petsc_eigenvalues}
      --ranks ${ranks} --mpiexec "${MPIEXEC_EXECUTABLE} ${BLOCK_EIGS_MPIEXEC_FLAGS} ${MPIEXEC_NUMPROC_FLAG}")
    add_test(NAME petsc_programs.${ranks} COMMAND ${programs_test})
    if(BLOCK_EIGS_HAVE_PETSC_CUDA AND ranks LESS 3)
      add_test(NAME petsc_programs_gpu.${ranks} COMMAND ${programs_test} --gpu)
      set_tests_properties(petsc_programs_gpu.${ranks} PROPERTIES LABELS gpu TIMEOUT 240 PROCESSORS ${ranks}
        SKIP_RETURN_CODE 77 ENVIRONMENT "${BLOCK_EIGS_TEST_ENVIRONMENT};OMP_NUM_THREADS=1;${petsc_gpu_environment}")
    endif()
    add_test(NAME petsc_python.${ranks} COMMAND ${launcher} ${BLOCK_EIGS_PYTHON} -B
      ${CMAKE_CURRENT_SOURCE_DIR}/petsc/python_test.py $<TARGET_FILE:block_eigs_petsc_plugin> ${PETSC_VERSION})
    # Solver types: all of it on one rank, what depends on ranks on several.
    set(solver_types --ksp $<TARGET_FILE:block_eigs_ksp_plugin> --systems $<TARGET_FILE:petsc_systems>)
    if(BLOCK_EIGS_HAVE_SLEPC)
      list(APPEND solver_types --slepc $<TARGET_FILE:block_eigs_slepc_plugin> ${petsc_eigenvalues})
    endif()
    set(solver_cases "")
    if(ranks GREATER 1)
      set(solver_cases -k a_preconditioner_of_ours -k programs_preconditioner -k smallest -k densely -k kept)
    endif()
    set(solver_gpu_cases "")
    if(ranks GREATER 1)
      set(solver_gpu_cases ${solver_cases} -k vectors -k largest -k rows)
    endif()
    add_test(NAME petsc_solver_types.${ranks} COMMAND ${BLOCK_EIGS_PYTHON} -B
      ${CMAKE_CURRENT_SOURCE_DIR}/petsc/solver_types_test.py ${solver_types} --ranks ${ranks}
      --mpiexec "${MPIEXEC_EXECUTABLE} ${BLOCK_EIGS_MPIEXEC_FLAGS} ${MPIEXEC_NUMPROC_FLAG}" ${solver_cases})
    if(BLOCK_EIGS_HAVE_PETSC_CUDA AND ranks LESS 3)
      add_test(NAME petsc_solver_types_gpu.${ranks} COMMAND ${BLOCK_EIGS_PYTHON} -B
        ${CMAKE_CURRENT_SOURCE_DIR}/petsc/solver_types_test.py ${solver_types} --ranks ${ranks} --gpu
        --mpiexec "${MPIEXEC_EXECUTABLE} ${BLOCK_EIGS_MPIEXEC_FLAGS} ${MPIEXEC_NUMPROC_FLAG}" ${solver_gpu_cases})
      set_tests_properties(petsc_solver_types_gpu.${ranks} PROPERTIES LABELS gpu TIMEOUT 600 PROCESSORS ${ranks}
        SKIP_RETURN_CODE 77 ENVIRONMENT "${BLOCK_EIGS_TEST_ENVIRONMENT};OMP_NUM_THREADS=1;${petsc_gpu_environment}")
    endif()
    set(solver_tests petsc_solver_types.${ranks})
    if(BLOCK_EIGS_HAVE_SLEPC AND NOT ranks EQUAL 2)
      add_test(NAME petsc_slepc_python.${ranks} COMMAND ${launcher} ${BLOCK_EIGS_PYTHON} -B
        ${CMAKE_CURRENT_SOURCE_DIR}/petsc/slepc_python_test.py $<TARGET_FILE:block_eigs_slepc_plugin> ${SLEPC_VERSION})
      list(APPEND solver_tests petsc_slepc_python.${ranks})
    endif()
    set_tests_properties(petsc_programs.${ranks} petsc_python.${ranks} ${solver_tests} PROPERTIES LABELS petsc TIMEOUT 240
      PROCESSORS ${ranks} SKIP_RETURN_CODE 77
      ENVIRONMENT "${BLOCK_EIGS_TEST_ENVIRONMENT};OMP_NUM_THREADS=1;PYTHONPATH=${petsc_python_path}")
  endforeach()
endif()
