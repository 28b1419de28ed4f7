
block_eigs_test(generate_ranks SOURCES mpi/generate_test.cpp RANKS 1 2 3 4 LABELS mpi TIMEOUT 120)

block_eigs_test(inner_precision SOURCES mpi/inner_precision_test.cpp RANKS 1 3 LABELS mpi TIMEOUT 60 LIBRARIES block_eigs_apps)
block_eigs_test(held_rows SOURCES mpi/held_rows_test.cpp RANKS 1 2 3 LABELS mpi TIMEOUT 60 LIBRARIES block_eigs_apps)
block_eigs_test(check_mass SOURCES mpi/check_mass_test.cpp RANKS 1 2 3 LABELS mpi TIMEOUT 60 LIBRARIES block_eigs_apps)
block_eigs_test(stored_zeros SOURCES mpi/stored_zeros_test.cpp RANKS 1 2 3 LABELS mpi TIMEOUT 60)
block_eigs_test(in_memory SOURCES mpi/in_memory_test.cpp mpi/resident_test.cpp RANKS 1 2 3 LABELS mpi TIMEOUT 120 LIBRARIES block_eigs_in_memory)
# Thousands of small messages: 5 s alone, two minutes where ranks take turns with other tests.
set_tests_properties(in_memory.2 in_memory.3 PROPERTIES RUN_SERIAL ON)
block_eigs_test(communicator SOURCES mpi/communicator_test.cpp RANKS 1 2 3 4 LABELS mpi)
block_eigs_test(stop_request SOURCES mpi/stop_request_test.cpp RANKS 1 2 3 LABELS mpi)
block_eigs_test(block_space SOURCES mpi/block_space_test.cpp RANKS 1 2 3 LABELS mpi)
block_eigs_test(smoothed_aggregation SOURCES mpi/smoothed_aggregation_test.cpp RANKS 1 2 3 4 LABELS mpi)
block_eigs_test(reserve SOURCES mpi/reserve_test.cpp RANKS 1 3 LABELS mpi TIMEOUT 60)
block_eigs_test(chebyshev SOURCES mpi/chebyshev_test.cpp RANKS 1 3 LABELS mpi)
block_eigs_test(column_scaling SOURCES mpi/column_scaling_test.cpp RANKS 1 3 LABELS mpi)
block_eigs_test(jacobi SOURCES mpi/jacobi_test.cpp RANKS 1 3 LABELS mpi)
block_eigs_test(cast_operator SOURCES mpi/cast_operator_test.cpp RANKS 1 3 LABELS mpi)
# Factors by MUMPS.
block_eigs_test(row_delivery SOURCES mpi/row_delivery_test.cpp RANKS 1 2 3 4 LABELS mpi TIMEOUT 60)
block_eigs_test(factor_operator SOURCES mpi/factor_operator_test.cpp RANKS 1 2 3 4 LABELS mpi TIMEOUT 120)
block_eigs_test(inertia SOURCES mpi/inertia_test.cpp RANKS 1 2 3 4 LABELS mpi TIMEOUT 120)
foreach(ranks 1 2 3 4)
  set_tests_properties(factor_operator.${ranks} inertia.${ranks} PROPERTIES SKIP_REGULAR_EXPRESSION "this build lacks MUMPS")
endforeach()
block_eigs_test(column_major_product SOURCES mpi/column_major_product_test.cpp RANKS 1 2 3 4 LABELS mpi)

include(${CMAKE_CURRENT_LIST_DIR}/matrix_files.cmake)

# block_eigs_ranks_and_devices_test(NAME SOURCES ...): on 1 to 4 ranks, on the host (NAME.1, ...) and, with the label
# gpu, on the GPUs that there are, which ranks may share (NAME.cuda.1, ...): the tests with "cuda" in their names.
function(block_eigs_ranks_and_devices_test name)
  block_eigs_test(${name} ${ARGN} RANKS 1 2 3 4 LABELS mpi)
  foreach(ranks 1 2 3 4)
    set_tests_properties(${name}.${ranks} PROPERTIES ENVIRONMENT
      "${BLOCK_EIGS_TEST_ENVIRONMENT};OMP_NUM_THREADS=1;GTEST_FILTER=-*cuda*")
    add_test(NAME ${name}.cuda.${ranks} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks}
      ${BLOCK_EIGS_MPIEXEC_FLAGS} $<TARGET_FILE:test_${name}>)
    set_tests_properties(${name}.cuda.${ranks} PROPERTIES LABELS gpu TIMEOUT 120 PROCESSORS ${ranks}
      SKIP_REGULAR_EXPRESSION "this machine has no GPU" ENVIRONMENT
      "${BLOCK_EIGS_TEST_ENVIRONMENT};OMP_NUM_THREADS=1;GTEST_FILTER=*cuda*")
  endforeach()
endfunction()

# Rows as ranks have them, in products and in what is known of them.
block_eigs_ranks_and_devices_test(distributed_matrix SOURCES mpi/distributed_matrix_test.cpp)

# Levels that ranks make where their matrix is, on the host and on GPUs, which ranks may share.
block_eigs_ranks_and_devices_test(level_ranks SOURCES mpi/level_ranks_test.cpp)

# Packing and moving of halos, on the way of the host and on that of a GPU.
block_eigs_test(halo_exchange SOURCES mpi/halo_exchange_test.cpp RANKS 1 2 3 4 LABELS mpi)

# Halos that ranks store into each other's memory: in shared memory of the host, and on the GPUs that there are, which
# ranks may share.
block_eigs_ranks_and_devices_test(peer_transport SOURCES mpi/peer_transport_test.cpp)

# Halos that the devices' queues send: by messages of MPI in the place of NCCL's on the host, and on GPUs, one a rank; once
# more by the way between nodes.
block_eigs_test(nccl_transport SOURCES mpi/nccl_transport_test.cpp RANKS 1 2 3 4 LABELS mpi)
foreach(ranks 1 2 3 4)
  set_tests_properties(nccl_transport.${ranks} PROPERTIES ENVIRONMENT
    "${BLOCK_EIGS_TEST_ENVIRONMENT};OMP_NUM_THREADS=1;GTEST_FILTER=-*cuda*")
  foreach(way cuda cuda_between_nodes)
    add_test(NAME nccl_transport.${way}.${ranks} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks}
      ${BLOCK_EIGS_MPIEXEC_FLAGS} $<TARGET_FILE:test_nccl_transport>)
    set_tests_properties(nccl_transport.${way}.${ranks} PROPERTIES LABELS gpu TIMEOUT 120 PROCESSORS ${ranks}
      SKIP_REGULAR_EXPRESSION "nothing was tested" ENVIRONMENT
      "${BLOCK_EIGS_TEST_ENVIRONMENT};OMP_NUM_THREADS=1;GTEST_FILTER=*cuda*")
  endforeach()
  set_property(TEST nccl_transport.cuda_between_nodes.${ranks} APPEND PROPERTY ENVIRONMENT
    NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1)
endforeach()

# A program of its own: it replaces operator new.
block_eigs_test(out_of_memory SOURCES mpi/out_of_memory_test.cpp RANKS 1 2 LABELS mpi LIBRARIES OpenMP::OpenMP_CXX)

# Rows dealt by the graph of the matrix, and back to the order of the file.
block_eigs_test(row_order SOURCES mpi/row_order_test.cpp RANKS 1 2 3 4 LABELS mpi)
block_eigs_test(graph_cut SOURCES mpi/graph_cut_test.cpp RANKS 1 2 3 4 LABELS mpi)
block_eigs_test(checkpoint_file SOURCES mpi/checkpoint_file_test.cpp RANKS 1 2 3 LABELS mpi)
