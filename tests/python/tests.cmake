# The Python package as its users have it: installed from the tree into a virtual environment, with pytest.
add_test(NAME python COMMAND ${PROJECT_SOURCE_DIR}/scripts/test-python ${PROJECT_BINARY_DIR})
# Where nobody knows yet how long tests take, the longest are begun first; docs_commands waits for this one, too.
set_tests_properties(python PROPERTIES LABELS app COST 1000 TIMEOUT 1800 PROCESSORS 2 SKIP_RETURN_CODE 77
  ENVIRONMENT "${BLOCK_EIGS_TEST_ENVIRONMENT};OMP_NUM_THREADS=1;PYTHON=${BLOCK_EIGS_PYTHON}")

# The wheel as its users have it: installed where there is no compiler, beside the packages that it stands in for.
add_test(NAME python_package COMMAND ${PROJECT_SOURCE_DIR}/scripts/test-package ${PROJECT_BINARY_DIR})
set_tests_properties(python_package PROPERTIES LABELS app COST 900 TIMEOUT 1800 PROCESSORS 2 SKIP_RETURN_CODE 77
  ENVIRONMENT "${BLOCK_EIGS_TEST_ENVIRONMENT};OMP_NUM_THREADS=1;PYTHON=${BLOCK_EIGS_PYTHON}")

# What runs on the builder alone is not for others.
if(BLOCK_EIGS_PYTHON)
  add_test(NAME package_flags COMMAND ${BLOCK_EIGS_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/python/package_flags_test.py
    --source ${PROJECT_SOURCE_DIR})
  set_tests_properties(package_flags PROPERTIES LABELS app TIMEOUT 300 ENVIRONMENT "${BLOCK_EIGS_TEST_ENVIRONMENT}")
endif()
