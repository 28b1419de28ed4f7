target_sources(block_eigs_spmm PRIVATE
  host/sparse/balance.cpp
  host/dense/column_sums.cpp
  host/dense/gram.cpp
  host/runtime/host_device.cpp
  host/runtime/host_kernels.cpp
  host/sparse/locality.cpp
  host/sparse/spmm.cpp
  host/runtime/threads.cpp
  host/dense/update.cpp)
target_link_libraries(block_eigs_spmm PRIVATE OpenMP::OpenMP_CXX ${LAPACK_LIBRARIES})
