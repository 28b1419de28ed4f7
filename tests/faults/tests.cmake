# Calls of memory, files, HDF5 and MPI that fail one after the other (docs/faults.md), by a library that is loaded before the others.
if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64 OR BLOCK_EIGS_SANITIZE OR NOT BLOCK_EIGS_PYTHON)
  return()
endif()

add_library(block_eigs_faults MODULE faults/calls.cpp faults/callers.cpp faults/plan.cpp faults/decide.cpp)
target_link_libraries(block_eigs_faults PRIVATE MPI::MPI_C block_eigs_flags ${CMAKE_DL_LIBS})
target_include_directories(block_eigs_faults PRIVATE ${PROJECT_SOURCE_DIR})
set_target_properties(block_eigs_faults PROPERTIES CXX_VISIBILITY_PRESET hidden)

foreach(ranks 1 2)
  add_test(NAME app_faults.${ranks} COMMAND ${BLOCK_EIGS_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/faults/faults_test.py
    --program $<TARGET_FILE:block-eigs> --injector $<TARGET_FILE:block_eigs_faults> --ranks ${ranks}
    --mpiexec "${MPIEXEC_EXECUTABLE} ${BLOCK_EIGS_MPIEXEC_FLAGS} ${MPIEXEC_NUMPROC_FLAG}")
  set_tests_properties(app_faults.${ranks} PROPERTIES LABELS app TIMEOUT 600 PROCESSORS ${ranks} SKIP_RETURN_CODE 77
    ENVIRONMENT "${BLOCK_EIGS_TEST_ENVIRONMENT};OMP_NUM_THREADS=1")
endforeach()
