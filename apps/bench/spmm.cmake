# Sparse times dense block beside cuSPARSE.
add_executable(bench_spmm bench_spmm.cpp bench_spmm_cases.cpp bench_spmm_measure.cpp bench_spmm_report.cpp stream.cpp)
target_compile_definitions(bench_spmm PRIVATE BLOCK_EIGS_BENCH_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}")
target_link_libraries(bench_spmm PRIVATE block_eigs::spmm block_eigs::io block_eigs_flags block_eigs_bench_line fmt::fmt OpenMP::OpenMP_CXX
  ${LAPACK_LIBRARIES})
if(BLOCK_EIGS_HAVE_CUDA)
  target_sources(bench_spmm PRIVATE peers/cusparse_spmm.cpp peers/cublas_block.cpp)
  target_link_libraries(bench_spmm PRIVATE CUDA::cusparse CUDA::cublas CUDA::cudart_static)
else()
  target_sources(bench_spmm PRIVATE peers/cusparse_spmm_unavailable.cpp peers/cublas_block_unavailable.cpp)
endif()
