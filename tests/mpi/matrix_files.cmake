# Matrix files. Python writes them with SciPy, h5py and PETSc; where that cannot be done the tests skip and say so.
find_program(BLOCK_EIGS_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH DOC "Python with SciPy and h5py, for tests")
find_program(BLOCK_EIGS_PYTHON NAMES python3)
set(BLOCK_EIGS_DEFAULT_MATRICES ${PROJECT_SOURCE_DIR}/../shared/matrices)
set(matrix_files ${CMAKE_CURRENT_BINARY_DIR}/matrix_files)
if(BLOCK_EIGS_PYTHON)
  execute_process(COMMAND ${BLOCK_EIGS_PYTHON} -c "import scipy.io, h5py" RESULT_VARIABLE no_scipy ERROR_QUIET)
  if(no_scipy EQUAL 0)
    set(matrix_folder ${BLOCK_EIGS_DEFAULT_MATRICES})
    if(DEFINED ENV{BLOCK_EIGS_MATRICES})
      set(matrix_folder $ENV{BLOCK_EIGS_MATRICES})
    endif()
    add_test(NAME matrix_files.write COMMAND ${BLOCK_EIGS_PYTHON}
      ${CMAKE_CURRENT_SOURCE_DIR}/support/write_matrix_files.py ${matrix_files} ${matrix_folder})
    add_test(NAME matrix_files.matlab_as_petsc_reads_it COMMAND ${BLOCK_EIGS_PYTHON}
      ${CMAKE_CURRENT_SOURCE_DIR}/support/check_matlab_file.py ${matrix_files})
    add_test(NAME matrix_files.written_as_h5py_reads_it COMMAND ${BLOCK_EIGS_PYTHON}
      ${CMAKE_CURRENT_SOURCE_DIR}/support/check_written_matrix.py ${matrix_files})
    set_tests_properties(matrix_files.write PROPERTIES FIXTURES_SETUP matrix_files TIMEOUT 300 LABELS mpi)
    set_tests_properties(matrix_files.matlab_as_petsc_reads_it matrix_files.written_as_h5py_reads_it PROPERTIES
      SKIP_RETURN_CODE 77 TIMEOUT 120 LABELS mpi ENVIRONMENT "${BLOCK_EIGS_TEST_ENVIRONMENT}")
    set_tests_properties(matrix_files.matlab_as_petsc_reads_it PROPERTIES FIXTURES_REQUIRED matrix_files)
    set_tests_properties(matrix_files.written_as_h5py_reads_it PROPERTIES FIXTURES_REQUIRED "matrix_files;written_matrices")
  endif()
endif()

# Tests that read those files: name, sources, rank counts, time limit.
function(block_eigs_matrix_file_test name source ranks timeout)
  block_eigs_test(${name} SOURCES ${source} RANKS ${ranks} LABELS mpi TIMEOUT ${timeout})
  target_compile_definitions(test_${name} PRIVATE BLOCK_EIGS_DEFAULT_MATRICES="${BLOCK_EIGS_DEFAULT_MATRICES}")
  foreach(count ${ranks})
    set_property(TEST ${name}.${count} APPEND PROPERTY ENVIRONMENT "BLOCK_EIGS_MATRIX_FILES=${matrix_files}")
    set_tests_properties(${name}.${count} PROPERTIES FIXTURES_REQUIRED matrix_files
      SKIP_REGULAR_EXPRESSION "no matrix files: they are written by")
  endforeach()
endfunction()
block_eigs_matrix_file_test(matrix_file mpi/matrix_file_test.cpp "1;2;3;4" 120)
block_eigs_matrix_file_test(bad_matrix_file mpi/bad_matrix_file_test.cpp "1;3" 60)
block_eigs_matrix_file_test(block_file mpi/block_file_test.cpp "1;2;3;4" 60)
block_eigs_matrix_file_test(check_matrix mpi/check_matrix_test.cpp "1;2;3;4" 60)
block_eigs_matrix_file_test(write_matrix mpi/write_matrix_test.cpp "1;2;3;4" 60)
set_tests_properties(write_matrix.1 write_matrix.2 write_matrix.3 write_matrix.4 PROPERTIES FIXTURES_SETUP written_matrices)
block_eigs_test(row_collector SOURCES mpi/row_collector_test.cpp RANKS 1 2 3 4 LABELS mpi TIMEOUT 60)

# Allocations fail one after the other; the files are the test's own.
block_eigs_test(io_memory SOURCES mpi/io_memory_test.cpp RANKS 1 3 LABELS mpi TIMEOUT 120
  LIBRARIES ZLIB::ZLIB PkgConfig::LIBZIP)
