block_eigs_test(lobpcg_laplacian SOURCES convergence/lobpcg_laplacian_test.cpp RANKS 1 2 3 4 LABELS convergence TIMEOUT 240)
block_eigs_test(lobpcg_windows SOURCES convergence/lobpcg_windows_test.cpp RANKS 1 2 3 LABELS convergence TIMEOUT 240)
block_eigs_test(lobpcg_inverse SOURCES convergence/lobpcg_inverse_test.cpp RANKS 1 LABELS convergence)
block_eigs_test(block_lanczos SOURCES convergence/block_lanczos_test.cpp RANKS 1 3 LABELS convergence)
block_eigs_test(spectrum_end SOURCES convergence/spectrum_end_test.cpp RANKS 1 3 LABELS convergence)
block_eigs_test(finished_pairs SOURCES convergence/finished_pairs_test.cpp RANKS 1 3 LABELS convergence)
block_eigs_test(davidson SOURCES convergence/davidson_test.cpp RANKS 1 3 LABELS convergence)
block_eigs_test(davidson_outliers SOURCES convergence/davidson_outliers_test.cpp RANKS 1 3 LABELS convergence)
block_eigs_test(residual_filter SOURCES convergence/residual_filter_test.cpp RANKS 1 3 LABELS convergence)
block_eigs_test(lobpcg_filters SOURCES convergence/lobpcg_filters_test.cpp RANKS 1 3 LABELS convergence)
block_eigs_test(lobpcg_steps SOURCES convergence/lobpcg_steps_test.cpp RANKS 1 2 LABELS convergence)
block_eigs_test(lobpcg_cut_cluster SOURCES convergence/lobpcg_cut_cluster_test.cpp RANKS 1 2 3 LABELS convergence)
block_eigs_test(lobpcg_ahead SOURCES convergence/lobpcg_ahead_test.cpp RANKS 1 2 LABELS convergence)
block_eigs_test(lobpcg_contracts SOURCES convergence/lobpcg_contracts_test.cpp RANKS 1 3 LABELS convergence TIMEOUT 240)
block_eigs_test(lobpcg_singular SOURCES convergence/lobpcg_singular_test.cpp RANKS 1 3 LABELS convergence TIMEOUT 240)
block_eigs_test(lobpcg_breakdown SOURCES convergence/lobpcg_breakdown_test.cpp RANKS 1 3 LABELS convergence TIMEOUT 240)
block_eigs_test(lobpcg_mixed SOURCES convergence/lobpcg_mixed_test.cpp RANKS 1 2 3 LABELS convergence TIMEOUT 240)
block_eigs_test(lobpcg_dense SOURCES convergence/lobpcg_dense_test.cpp RANKS 1 2 LABELS convergence TIMEOUT 240)
# A program of its own: it stands in for functions of MPI.
block_eigs_test(collectives SOURCES convergence/collectives_test.cpp support/mpi_collectives.cpp RANKS 1 2 3 LABELS convergence TIMEOUT 240)
block_eigs_test(probe SOURCES convergence/probe_test.cpp RANKS 1 3 LABELS convergence TIMEOUT 240)
block_eigs_test(amg SOURCES convergence/amg_test.cpp RANKS 1 2 3 4 LABELS convergence TIMEOUT 240)
block_eigs_test(amg_graph SOURCES convergence/amg_graph_test.cpp RANKS 1 3 LABELS convergence TIMEOUT 240)
block_eigs_test(block_cg_dense SOURCES convergence/block_cg_dense_test.cpp RANKS 1 2 3 4 LABELS convergence TIMEOUT 240)
block_eigs_test(block_cg_ugly SOURCES convergence/block_cg_ugly_test.cpp RANKS 1 2 3 4 LABELS convergence TIMEOUT 240)
block_eigs_test(block_cg_mixed SOURCES convergence/block_cg_mixed_test.cpp RANKS 1 2 3 LABELS convergence TIMEOUT 240)
block_eigs_test(block_cg_adaptive SOURCES convergence/block_cg_adaptive_test.cpp RANKS 1 3 LABELS convergence TIMEOUT 240)
block_eigs_test(block_cg_deferred SOURCES convergence/block_cg_deferred_test.cpp RANKS 1 2 3 LABELS convergence)
block_eigs_test(block_cg_scaled SOURCES convergence/block_cg_scaled_test.cpp RANKS 1 3 LABELS convergence TIMEOUT 240)
block_eigs_test(block_cg_breakdown SOURCES convergence/block_cg_breakdown_test.cpp RANKS 1 3 LABELS convergence TIMEOUT 240)
block_eigs_test(block_cg_singular SOURCES convergence/block_cg_singular_test.cpp RANKS 1 3 LABELS convergence TIMEOUT 240)
block_eigs_test(block_cg_rounding SOURCES convergence/block_cg_rounding_test.cpp RANKS 1 3 LABELS convergence TIMEOUT 240)

# How surely a probe finds pairs that were removed, and at what cost: a table, 100 seeds a pair; a few of them here.
add_executable(removed_pairs convergence/removed_pairs.cpp)
target_link_libraries(removed_pairs PRIVATE block_eigs_apps block_eigs_flags fmt::fmt CLI11::CLI11)
add_test(NAME removed_pairs COMMAND removed_pairs --size 32 --seeds 5 --require)
set_tests_properties(removed_pairs PROPERTIES LABELS convergence TIMEOUT 240
  ENVIRONMENT "${BLOCK_EIGS_TEST_ENVIRONMENT};OMP_NUM_THREADS=1")

# Real matrices through the program; skipped, and said so, where they or SciPy are not there.
if(NOT DEFINED ENV{BLOCK_EIGS_MATRICES})
  set(real_matrices ${PROJECT_SOURCE_DIR}/../shared/matrices)
else()
  set(real_matrices $ENV{BLOCK_EIGS_MATRICES})
endif()
find_program(BLOCK_EIGS_SYSTEM_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(BLOCK_EIGS_SYSTEM_PYTHON)
  foreach(case trefethen ani4_smallest ani4_largest bcsstk17_largest bcsstk17_smallest bcsstk17_pencil)
    add_test(NAME real_matrices.${case} COMMAND ${BLOCK_EIGS_SYSTEM_PYTHON}
      ${CMAKE_CURRENT_SOURCE_DIR}/convergence/real_matrices_test.py $<TARGET_FILE:block-eigs> ${real_matrices}
      ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${case})
    set_tests_properties(real_matrices.${case} PROPERTIES LABELS convergence TIMEOUT 900 PROCESSORS 2 SKIP_RETURN_CODE 77
      ENVIRONMENT "${BLOCK_EIGS_TEST_ENVIRONMENT};OMP_NUM_THREADS=1")
  endforeach()
endif()

# What default settings come to on matrices that they were not made for.
if(BLOCK_EIGS_SYSTEM_PYTHON)
  foreach(case cluster_of_50 cluster_within_tolerance cluster_of_300 cluster_around_zero stiffness c62_smallest
      c62_largest penalty_edge penalty_point largest_with_mass largest_with_consistent_mass
      largest_with_near_singular_mass permuted_path)
    add_test(NAME default_settings.${case} COMMAND ${BLOCK_EIGS_SYSTEM_PYTHON}
      ${CMAKE_CURRENT_SOURCE_DIR}/convergence/default_settings_test.py $<TARGET_FILE:block-eigs> ${real_matrices}
      ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${case})
    set_tests_properties(default_settings.${case} PROPERTIES LABELS convergence TIMEOUT 600 PROCESSORS 2 SKIP_RETURN_CODE 77
      ENVIRONMENT "${BLOCK_EIGS_TEST_ENVIRONMENT};OMP_NUM_THREADS=1")
  endforeach()
endif()

# Pairs that iterations by themselves pass over.
if(BLOCK_EIGS_SYSTEM_PYTHON)
  foreach(case empty_rows_amg empty_rows_jacobi empty_rows_and_more empty_row rows_amid rows_amid_counted
      rows_at_upper_end rows_with_mass few_other_rows diagonal rows_that_constraints_reach stiff_parts
      stiff_parts_and_more less_stiff_parts initial_of_later_pairs
      initial_of_later_pairs_far_from_zero copies_need_no_wider_block soft_mass soft_mass_shifted)
    add_test(NAME passed_over.${case} COMMAND ${BLOCK_EIGS_SYSTEM_PYTHON}
      ${CMAKE_CURRENT_SOURCE_DIR}/convergence/passed_over_test.py $<TARGET_FILE:block-eigs>
      ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${case})
    set_tests_properties(passed_over.${case} PROPERTIES LABELS convergence TIMEOUT 600 PROCESSORS 2 SKIP_RETURN_CODE 77
      ENVIRONMENT "${BLOCK_EIGS_TEST_ENVIRONMENT};OMP_NUM_THREADS=1")
  endforeach()
endif()
