# What refuses a GPU is part of every build, and tested in every one.
target_sources(block_eigs_spmm PRIVATE cuda/requirements.cpp)
if(NOT BLOCK_EIGS_HAVE_CUDA)
  target_sources(block_eigs_spmm PRIVATE cuda/unavailable.cpp)
else()
  target_sources(block_eigs_spmm PRIVATE
    cuda/column_layout.cu
    cuda/column_sums.cu
    cuda/cuda_backend.cpp
    cuda/cuda_device.cpp
    cuda/cuda_kernels.cpp
    cuda/elementwise.cu
    cuda/gram.cu
    cuda/spmm_engine.cu
    cuda/spmm_merge.cu
    cuda/spmm_merge_step.cu
    cuda/spmm_pattern.cu
    cuda/spmm_row_split.cu
    cuda/spmm_row_split_step.cu
    cuda/update.cu
    cuda/workspace.cpp)
  target_compile_options(block_eigs_spmm PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr -Xcompiler=-Wall,-Wextra,-Wshadow>)
  target_link_libraries(block_eigs_spmm PRIVATE CUDA::cudart_static)
endif()
