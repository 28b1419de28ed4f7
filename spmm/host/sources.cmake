target_sources(block_eigs_spmm PRIVATE
  host/balance.cpp
  host/column_sums.cpp
  host/gram.cpp
  host/host_device.cpp
  host/host_kernels.cpp
  host/locality.cpp
  host/spmm.cpp
  host/threads.cpp
  host/update.cpp)
target_link_libraries(block_eigs_spmm PRIVATE OpenMP::OpenMP_CXX ${LAPACK_LIBRARIES})
