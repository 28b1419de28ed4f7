# One program, one body for every backend. The part that needs a GPU is a test of its own, which skips without one.
block_eigs_test(device
  SOURCES
    device/backend_comparison_test.cpp
    device/balance_test.cpp
    device/device_memory_test.cpp
    device/elementwise_test.cpp
    device/fused_gram_test.cpp
    device/gram_test.cpp
    device/random_test.cpp
    device/residual_test.cpp
    device/spmm_step_test.cpp
    device/spmm_test.cpp
    device/threads_test.cpp
    device/update_slabs_test.cpp
    device/update_test.cpp
  LABELS unit
  TIMEOUT 300)
# The sanitizer must let a test ask for more memory than there is.
set_tests_properties(device.1 PROPERTIES PROCESSORS 2 ENVIRONMENT
  "${BLOCK_EIGS_TEST_ENVIRONMENT};ASAN_OPTIONS=allocator_may_return_null=1;GTEST_FILTER=-*cuda*")
add_test(NAME device.cuda COMMAND test_device)
set_tests_properties(device.cuda PROPERTIES LABELS gpu TIMEOUT 300
  SKIP_REGULAR_EXPRESSION "this machine has no GPU" ENVIRONMENT
  "${BLOCK_EIGS_TEST_ENVIRONMENT};GTEST_FILTER=*cuda*")

# What multigrid is set up with, and the levels that it makes.
block_eigs_test(sparse_algebra
  SOURCES
    device/aggregation_test.cpp
    device/filtered_test.cpp
    device/device_levels_test.cpp
    device/rearranged_test.cpp
    device/sparse_algebra_comparison_test.cpp
    device/sparse_algebra_test.cpp
    device/whole_rows_test.cpp
  LABELS unit
  TIMEOUT 300)
set_tests_properties(sparse_algebra.1 PROPERTIES ENVIRONMENT
  "${BLOCK_EIGS_TEST_ENVIRONMENT};OMP_NUM_THREADS=2;GTEST_FILTER=-*cuda*")
add_test(NAME sparse_algebra.cuda COMMAND test_sparse_algebra)
set_tests_properties(sparse_algebra.cuda PROPERTIES LABELS gpu TIMEOUT 300
  SKIP_REGULAR_EXPRESSION "this machine has no GPU" ENVIRONMENT
  "${BLOCK_EIGS_TEST_ENVIRONMENT};GTEST_FILTER=*cuda*")

# Large matrices that take every way through the SpMM.
block_eigs_test(spmm_paths SOURCES device/spmm_paths_test.cpp LABELS unit TIMEOUT 300)
set_tests_properties(spmm_paths.1 PROPERTIES ENVIRONMENT "${BLOCK_EIGS_TEST_ENVIRONMENT};GTEST_FILTER=-*cuda*")
add_test(NAME spmm_paths.cuda COMMAND test_spmm_paths)
set_tests_properties(spmm_paths.cuda PROPERTIES LABELS gpu TIMEOUT 300
  SKIP_REGULAR_EXPRESSION "this machine has no GPU" ENVIRONMENT
  "${BLOCK_EIGS_TEST_ENVIRONMENT};GTEST_FILTER=*cuda*")

# The solvers on a GPU, on as many ranks as share it.
block_eigs_test(gpu_solvers SOURCES device/gpu_solvers_test.cpp RANKS 1 2 LABELS gpu TIMEOUT 300)
set_tests_properties(gpu_solvers.1 gpu_solvers.2 PROPERTIES SKIP_REGULAR_EXPRESSION "this machine has no GPU")
block_eigs_test(gpu_requirements SOURCES device/gpu_requirements_test.cpp LABELS unit)
