
block_eigs_test(generate_ranks SOURCES mpi/generate_test.cpp RANKS 1 2 3 4 LABELS mpi TIMEOUT 120)

block_eigs_test(check_mass SOURCES mpi/check_mass_test.cpp RANKS 1 2 3 LABELS mpi TIMEOUT 60 LIBRARIES block_eigs_apps)
block_eigs_test(in_memory SOURCES mpi/in_memory_test.cpp RANKS 1 2 3 LABELS mpi TIMEOUT 120 LIBRARIES block_eigs_in_memory)
block_eigs_test(communicator SOURCES mpi/communicator_test.cpp RANKS 1 2 3 4 LABELS mpi)
block_eigs_test(block_space SOURCES mpi/block_space_test.cpp RANKS 1 2 3 LABELS mpi)
block_eigs_test(smoothed_aggregation SOURCES mpi/smoothed_aggregation_test.cpp RANKS 1 2 3 4 LABELS mpi)
block_eigs_test(aggregation SOURCES mpi/aggregation_test.cpp RANKS 1 3 LABELS mpi LIBRARIES OpenMP::OpenMP_CXX)
block_eigs_test(reserve SOURCES mpi/reserve_test.cpp RANKS 1 3 LABELS mpi TIMEOUT 60)
block_eigs_test(chebyshev SOURCES mpi/chebyshev_test.cpp RANKS 1 3 LABELS mpi)
block_eigs_test(column_scaling SOURCES mpi/column_scaling_test.cpp RANKS 1 3 LABELS mpi)
block_eigs_test(jacobi SOURCES mpi/jacobi_test.cpp RANKS 1 3 LABELS mpi)
block_eigs_test(column_major_product SOURCES mpi/column_major_product_test.cpp RANKS 1 2 3 4 LABELS mpi)
block_eigs_test(distributed_matrix SOURCES mpi/distributed_matrix_test.cpp RANKS 1 2 3 4 LABELS mpi)

include(${CMAKE_CURRENT_LIST_DIR}/matrix_files.cmake)

# Packing and moving of halos, on the way of the host and on that of a GPU.
block_eigs_test(halo_exchange SOURCES mpi/halo_exchange_test.cpp RANKS 1 2 3 4 LABELS mpi)

# A program of its own: it replaces operator new.
block_eigs_test(out_of_memory SOURCES mpi/out_of_memory_test.cpp RANKS 1 2 LABELS mpi LIBRARIES OpenMP::OpenMP_CXX)
