# Tests of the house itself: the include rules, and that the installed package can be used.
set(check_layers ${CMAKE_CURRENT_SOURCE_DIR}/check_layers.cmake)
add_custom_target(block_eigs_layers ALL COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -P ${check_layers}
  COMMENT "Checking who includes whom" VERBATIM)

add_test(NAME layers COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -P ${check_layers})
add_test(NAME layers_catches_violations COMMAND ${CMAKE_COMMAND} -DWORK=${CMAKE_CURRENT_BINARY_DIR}/layers
  -DCHECK=${check_layers} -P ${CMAKE_CURRENT_SOURCE_DIR}/check_layers_test.cmake)
set_tests_properties(layers layers_catches_violations PROPERTIES LABELS unit TIMEOUT 60)

set(example_flags "")
if(BLOCK_EIGS_SANITIZE)
  set(example_flags -fsanitize=address,undefined)
endif()
add_test(NAME install_example COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR}
  -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}/install_example -DWORK=${CMAKE_CURRENT_BINARY_DIR}/install_example
  -DCXX=${CMAKE_CXX_COMPILER} -DFLAGS=${example_flags}
  -DMPIEXEC=${MPIEXEC_EXECUTABLE} -DNUMPROC_FLAG=${MPIEXEC_NUMPROC_FLAG}
  -P ${CMAKE_CURRENT_SOURCE_DIR}/install_example/check.cmake)
set_tests_properties(install_example PROPERTIES LABELS app TIMEOUT 300 PROCESSORS 2
  ENVIRONMENT "${BLOCK_EIGS_TEST_ENVIRONMENT}")
