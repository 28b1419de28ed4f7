# The documentation: the site is built, without warnings or broken links, where Sphinx, MyST and Furo are there; and what its pages
# tell the reader to type is typed.
if(BLOCK_EIGS_PYTHON)
  add_test(NAME docs_tools COMMAND ${BLOCK_EIGS_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/docs/site_test.py)
  add_test(NAME docs_site COMMAND ${PROJECT_SOURCE_DIR}/scripts/docs ${PROJECT_BINARY_DIR}/docs)
  add_test(NAME docs_commands COMMAND ${BLOCK_EIGS_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/docs/run_commands.py
    --build ${PROJECT_BINARY_DIR} --quick)
  set_tests_properties(docs_tools docs_site docs_commands PROPERTIES LABELS docs TIMEOUT 300 SKIP_RETURN_CODE 77
    ENVIRONMENT "${BLOCK_EIGS_TEST_ENVIRONMENT};OMP_NUM_THREADS=1;PYTHON=${BLOCK_EIGS_PYTHON}")
  # The package is used where its test has installed it.
  set_tests_properties(docs_commands PROPERTIES PROCESSORS 2 DEPENDS python)
endif()
