target_sources(block_eigs_spmm PRIVATE
  host/algebra/aggregates.cpp
  host/algebra/couplings.cpp
  host/algebra/host_sparse_algebra.cpp
  host/algebra/numbers.cpp
  host/algebra/filtered.cpp
  host/algebra/products.cpp
  host/algebra/rearranged.cpp
  host/algebra/row_groups.cpp
  host/algebra/tentative.cpp
  host/sparse/balance.cpp
  host/sparse/column_major_product.cpp
  host/dense/column_sums.cpp
  host/dense/gram.cpp
  host/runtime/host_device.cpp
  host/runtime/host_kernels.cpp
  host/runtime/host_peer_memory.cpp
  host/sparse/locality.cpp
  host/sparse/product_sums.cpp
  host/sparse/spmm.cpp
  host/runtime/threads.cpp
  host/dense/update.cpp)
target_link_libraries(block_eigs_spmm PRIVATE OpenMP::OpenMP_CXX ${LAPACK_LIBRARIES})
# A multiplication and the addition that follows are one instruction where the processor has it.
set_source_files_properties(host/sparse/column_major_product.cpp PROPERTIES COMPILE_OPTIONS -ffp-contract=fast)
# Set-up rounds every operation by itself: levels are the same bits on every backend.
set_source_files_properties(host/algebra/aggregates.cpp host/algebra/couplings.cpp host/algebra/filtered.cpp host/algebra/numbers.cpp
  host/algebra/products.cpp host/algebra/rearranged.cpp host/algebra/tentative.cpp PROPERTIES COMPILE_OPTIONS -ffp-contract=off)

# What is fuzzed are the readers: kernels are there to be linked with, and take minutes to optimise.
if(BLOCK_EIGS_FUZZ)
  get_target_property(kernels block_eigs_spmm SOURCES)
  list(FILTER kernels INCLUDE REGEX "host/(algebra|dense|sparse)/")
  set_source_files_properties(${kernels} PROPERTIES COMPILE_OPTIONS
    "-O0;-fno-sanitize=all;-fno-sanitize-coverage=trace-cmp,inline-8bit-counters,pc-table,indirect-calls")
endif()
