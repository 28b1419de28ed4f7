# What refuses a GPU is part of every build, and tested in every one.
target_sources(block_eigs_spmm PRIVATE cuda/runtime/requirements.cpp)
if(NOT BLOCK_EIGS_HAVE_CUDA)
  target_sources(block_eigs_spmm PRIVATE cuda/runtime/unavailable.cpp)
else()
  target_sources(block_eigs_spmm PRIVATE
    cuda/algebra/aggregates.cu
    cuda/algebra/couplings.cu
    cuda/algebra/dense_inverse.cu
    cuda/algebra/filtered.cu
    cuda/algebra/galerkin.cu
    cuda/algebra/numbers.cu
    cuda/algebra/products.cu
    cuda/algebra/rearranged.cu
    cuda/algebra/scan.cu
    cuda/algebra/survey.cu
    cuda/algebra/tentative.cu
    cuda/algebra/triple.cu
    cuda/dense/column_layout.cu
    cuda/dense/column_sums.cu
    cuda/runtime/early_launch.cu
    cuda/runtime/cuda_backend.cpp
    cuda/runtime/cuda_device.cpp
    cuda/runtime/cuda_kernels.cpp
    cuda/runtime/cuda_peer_memory.cpp
    cuda/runtime/pageable_copy.cpp
    cuda/dense/elementwise.cu
    cuda/dense/fetch.cu
    cuda/dense/gram.cu
    cuda/sparse/spmm_bundles.cu
    cuda/sparse/spmm_engine.cu
    cuda/sparse/spmm_merge.cu
    cuda/sparse/spmm_merge_step.cu
    cuda/sparse/spmm_pattern.cu
    cuda/sparse/spmm_row_split.cu
    cuda/sparse/spmm_row_split_step.cu
    cuda/sparse/spmm_strip_products.cu
    cuda/sparse/spmm_strip_products_step.cu
    cuda/sparse/spmm_strips.cu
    cuda/dense/update.cu
    cuda/dense/update_gram.cu
    cuda/runtime/workspace.cpp)
  target_compile_options(block_eigs_spmm PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr -Xcompiler=-Wall,-Wextra,-Wshadow>)
  # Set-up rounds every operation by itself: levels are the same bits on every backend.
  set_source_files_properties(cuda/algebra/aggregates.cu cuda/algebra/couplings.cu cuda/algebra/dense_inverse.cu
    cuda/algebra/filtered.cu cuda/algebra/galerkin.cu cuda/algebra/numbers.cu cuda/algebra/products.cu cuda/algebra/rearranged.cu cuda/algebra/scan.cu
    cuda/algebra/survey.cu cuda/algebra/tentative.cu cuda/algebra/triple.cu PROPERTIES COMPILE_OPTIONS "--fmad=false;--extended-lambda")
  set_source_files_properties(cuda/sparse/spmm_bundles.cu cuda/sparse/spmm_pattern.cu cuda/sparse/spmm_strips.cu PROPERTIES COMPILE_OPTIONS "--extended-lambda")
  target_link_libraries(block_eigs_spmm PRIVATE ${BLOCK_EIGS_CUDART} ${CMAKE_DL_LIBS})
  # The header is enough: the library is looked for when messages are first wanted.
  if(BLOCK_EIGS_NCCL_HEADERS)
    target_sources(block_eigs_spmm PRIVATE cuda/runtime/nccl_messages.cpp)
    set_source_files_properties(cuda/runtime/nccl_messages.cpp PROPERTIES INCLUDE_DIRECTORIES "${BLOCK_EIGS_NCCL_HEADERS}")
  else()
    target_sources(block_eigs_spmm PRIVATE cuda/runtime/nccl_unavailable.cpp)
  endif()
endif()
