block_eigs_test(lobpcg_laplacian SOURCES convergence/lobpcg_laplacian_test.cpp RANKS 1 2 3 4 LABELS convergence TIMEOUT 240)
block_eigs_test(lobpcg_contracts SOURCES convergence/lobpcg_contracts_test.cpp RANKS 1 3 LABELS convergence TIMEOUT 240)
block_eigs_test(lobpcg_dense SOURCES convergence/lobpcg_dense_test.cpp RANKS 1 2 LABELS convergence TIMEOUT 240)
