target_sources(block_eigs_spmm PRIVATE
  host/gram.cpp
  host/host_device.cpp
  host/host_kernels.cpp
  host/threads.cpp)
target_link_libraries(block_eigs_spmm PRIVATE OpenMP::OpenMP_CXX ${LAPACK_LIBRARIES})
