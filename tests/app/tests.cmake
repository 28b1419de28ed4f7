# The programs as users run them, driven from Python: SciPy and h5py make the inputs and check the results.
find_program(BLOCK_EIGS_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH DOC "Python with SciPy and h5py, for tests")
find_program(BLOCK_EIGS_PYTHON NAMES python3)

if(NOT DEFINED BLOCK_EIGS_DEFAULT_MATRICES)
  set(BLOCK_EIGS_DEFAULT_MATRICES ${PROJECT_SOURCE_DIR}/../shared/matrices)
endif()
set(app_matrices ${BLOCK_EIGS_DEFAULT_MATRICES})
if(DEFINED ENV{BLOCK_EIGS_MATRICES})
  set(app_matrices $ENV{BLOCK_EIGS_MATRICES})
endif()

# block_eigs_app_test(NAME PROGRAM target RANKS 1 3 TIMEOUT 300): runs NAME_test.py.
function(block_eigs_app_test name)
  cmake_parse_arguments(arg "" "PROGRAM;TIMEOUT" "RANKS" ${ARGN})
  if(NOT BLOCK_EIGS_PYTHON)
    return()
  endif()
  foreach(ranks ${arg_RANKS})
    add_test(NAME app_${name}.${ranks} COMMAND ${BLOCK_EIGS_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/app/${name}_test.py
      --program $<TARGET_FILE:${arg_PROGRAM}> --ranks ${ranks} --source ${PROJECT_SOURCE_DIR} --matrices ${app_matrices}
      --mpiexec "${MPIEXEC_EXECUTABLE} ${BLOCK_EIGS_MPIEXEC_FLAGS} ${MPIEXEC_NUMPROC_FLAG}")
    set_tests_properties(app_${name}.${ranks} PROPERTIES LABELS app TIMEOUT ${arg_TIMEOUT} PROCESSORS ${ranks}
      SKIP_RETURN_CODE 77 ENVIRONMENT "${BLOCK_EIGS_TEST_ENVIRONMENT}")
  endforeach()
endfunction()

add_executable(session_probe app/session_probe.cpp)
target_link_libraries(session_probe PRIVATE block_eigs_apps block_eigs_flags)

add_executable(failing_rank_probe app/failing_rank_probe.cpp)
target_link_libraries(failing_rank_probe PRIVATE block_eigs_apps block_eigs_flags)

block_eigs_app_test(terminal PROGRAM block-eigs RANKS 1 2 TIMEOUT 300)
block_eigs_app_test(session PROGRAM session_probe RANKS 1 3 TIMEOUT 240)
block_eigs_app_test(killed_rank PROGRAM block-eigs RANKS 3 TIMEOUT 240)
block_eigs_app_test(failing_rank PROGRAM failing_rank_probe RANKS 2 4 TIMEOUT 240)
block_eigs_app_test(memory_limit PROGRAM block-eigs RANKS 1 2 TIMEOUT 900)
block_eigs_app_test(extreme_values PROGRAM block-eigs RANKS 1 3 TIMEOUT 900)
block_eigs_app_test(graph_partition PROGRAM block-eigs RANKS 1 3 TIMEOUT 600)
block_eigs_app_test(repeatable PROGRAM block-eigs RANKS 1 2 3 TIMEOUT 900)
block_eigs_app_test(bad_input PROGRAM block-eigs RANKS 1 3 TIMEOUT 600)
block_eigs_app_test(result PROGRAM block-eigs RANKS 1 3 TIMEOUT 600)
block_eigs_app_test(run PROGRAM block-eigs RANKS 1 3 TIMEOUT 900)
block_eigs_app_test(configs PROGRAM block-eigs RANKS 2 TIMEOUT 600)
block_eigs_app_test(solve PROGRAM block-solve RANKS 1 3 TIMEOUT 900)
block_eigs_app_test(preconditioner PROGRAM block-eigs RANKS 1 3 TIMEOUT 900)
block_eigs_app_test(verify PROGRAM block-eigs RANKS 1 2 TIMEOUT 900)
block_eigs_app_test(direct PROGRAM block-eigs RANKS 1 2 3 TIMEOUT 600)
block_eigs_app_test(direct_solve PROGRAM block-solve RANKS 1 3 TIMEOUT 600)
block_eigs_app_test(auto PROGRAM block-eigs RANKS 1 2 TIMEOUT 600)
block_eigs_app_test(auto_solve PROGRAM block-solve RANKS 1 3 TIMEOUT 600)
