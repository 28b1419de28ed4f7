# Block kernels beside cuBLAS.
add_executable(bench_block bench_block.cpp bench_block_cases.cpp bench_block_report.cpp stream.cpp)
target_link_libraries(bench_block PRIVATE block_eigs::spmm block_eigs_flags block_eigs_bench_line fmt::fmt OpenMP::OpenMP_CXX
  ${LAPACK_LIBRARIES})
if(BLOCK_EIGS_HAVE_CUDA)
  target_sources(bench_block PRIVATE peers/cublas_block.cpp)
  target_link_libraries(bench_block PRIVATE CUDA::cublas CUDA::cudart_static)
else()
  target_sources(bench_block PRIVATE peers/cublas_block_unavailable.cpp)
endif()
