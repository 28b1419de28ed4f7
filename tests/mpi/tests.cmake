
block_eigs_test(generate_ranks SOURCES mpi/generate_test.cpp RANKS 1 2 3 4 LABELS mpi TIMEOUT 120)
