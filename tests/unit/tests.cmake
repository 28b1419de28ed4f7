
block_eigs_test(generate SOURCES unit/generate_grid_test.cpp unit/generate_elasticity_test.cpp
  unit/generate_random_test.cpp LABELS unit)

block_eigs_test(config SOURCES unit/config_test.cpp LABELS unit TIMEOUT 60 LIBRARIES block_eigs_apps)

block_eigs_test(matrix_text SOURCES unit/matrix_market_test.cpp unit/npy_header_test.cpp LABELS unit)

block_eigs_test(hdf5_storage SOURCES unit/hdf5_storage_test.cpp LABELS unit TIMEOUT 60)

block_eigs_test(small_dense SOURCES unit/rank_revealing_test.cpp unit/dependent_columns_test.cpp unit/curvature_test.cpp unit/lapack_test.cpp unit/basis_factor_test.cpp unit/lowest_dense_vectors_test.cpp unit/lowest_eigenpairs_test.cpp
  unit/rayleigh_ritz_test.cpp
  unit/refine_pencil_test.cpp unit/residual_test_test.cpp unit/wanted_order_test.cpp LABELS unit property)

block_eigs_test(split_rows SOURCES unit/split_rows_test.cpp LABELS unit TIMEOUT 120)

block_eigs_test(locality SOURCES unit/locality_test.cpp LABELS unit)
block_eigs_test(column_numbers SOURCES unit/column_numbers_test.cpp LABELS unit)

block_eigs_test(text SOURCES unit/text_test.cpp LABELS unit TIMEOUT 60 LIBRARIES block_eigs_apps)

block_eigs_test(product_bound SOURCES unit/product_bound_test.cpp LABELS unit LIBRARIES OpenMP::OpenMP_CXX)

block_eigs_test(memory_left SOURCES unit/memory_left_test.cpp LABELS unit)
block_eigs_test(shared_memory SOURCES unit/shared_memory_test.cpp LABELS unit)
block_eigs_test(memory SOURCES unit/memory_test.cpp LABELS unit TIMEOUT 120 LIBRARIES block_eigs_apps)
block_eigs_test(choice_log SOURCES unit/choice_log_test.cpp LABELS unit TIMEOUT 60 LIBRARIES block_eigs_apps)

block_eigs_test(progress SOURCES unit/progress_test.cpp LABELS unit TIMEOUT 60 LIBRARIES block_eigs_apps)

block_eigs_test(verify SOURCES unit/verify_test.cpp LABELS unit TIMEOUT 60 LIBRARIES block_eigs_apps)

block_eigs_test(scaling SOURCES unit/scaling_test.cpp LABELS unit TIMEOUT 60 LIBRARIES block_eigs_apps)

block_eigs_test(block_cg_recurrence SOURCES unit/block_cg_recurrence_test.cpp LABELS unit property)

block_eigs_test(shift_search SOURCES unit/shift_search_test.cpp LABELS unit TIMEOUT 60 LIBRARIES block_eigs_apps)
block_eigs_test(lanczos_shift SOURCES unit/lanczos_shift_test.cpp LABELS unit TIMEOUT 60 LIBRARIES block_eigs_apps)
block_eigs_test(better_result SOURCES unit/better_result_test.cpp LABELS unit TIMEOUT 60 LIBRARIES block_eigs_apps)
block_eigs_test(pair_order SOURCES unit/pair_order_test.cpp LABELS unit TIMEOUT 60 RANKS 1 2 LIBRARIES block_eigs_apps)

block_eigs_test(choice SOURCES unit/choice_test.cpp unit/choice_spectra_test.cpp unit/direct_choice_test.cpp unit/factors_first_test.cpp unit/dense_choice_test.cpp unit/linear_choice_test.cpp LABELS unit TIMEOUT 60 LIBRARIES block_eigs_apps)

block_eigs_test(separator_guess SOURCES unit/separator_guess_test.cpp LABELS unit TIMEOUT 60 LIBRARIES block_eigs_apps)
block_eigs_test(advice_eigen SOURCES unit/advice_eigen_test.cpp LABELS unit TIMEOUT 60 LIBRARIES block_eigs_apps)
block_eigs_test(advice_solve SOURCES unit/advice_solve_test.cpp LABELS unit TIMEOUT 60 LIBRARIES block_eigs_apps)

block_eigs_test(confidence SOURCES unit/confidence_test.cpp LABELS unit property)

block_eigs_test(proof SOURCES unit/proof_test.cpp RANKS 1 2 LABELS unit TIMEOUT 360 LIBRARIES block_eigs_apps block_eigs::petsc)
