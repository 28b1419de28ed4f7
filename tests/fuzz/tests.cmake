# Programs of libFuzzer, one a reader, for builds with its coverage (scripts/fuzz makes and runs them).
if(NOT BLOCK_EIGS_FUZZ)
  return()
endif()

add_library(block_eigs_fuzz STATIC fuzz/reader.cpp fuzz/mutations.cpp fuzz/deflate.cpp fuzz/zip_archive.cpp fuzz/hdf5_parts.cpp fuzz/worker.cpp)
# Looked through for every input; what is tested are the readers.
set_source_files_properties(fuzz/hdf5_parts.cpp fuzz/mutations.cpp PROPERTIES COMPILE_OPTIONS "-O2;-fno-sanitize=all;-fno-sanitize-coverage=trace-cmp,inline-8bit-counters,pc-table,indirect-calls")
target_link_libraries(block_eigs_fuzz PUBLIC block_eigs::io block_eigs::spmm ZLIB::ZLIB fmt::fmt PRIVATE block_eigs_flags)
target_include_directories(block_eigs_fuzz PUBLIC ${PROJECT_SOURCE_DIR})

add_custom_target(fuzz_targets)
foreach(reader matrix_market matrix_market_gzip npz npy_header petsc_binary hdf5_matrix hdf5_block checkpoint config)
  add_executable(fuzz_${reader} fuzz/${reader}.cpp)
  target_link_libraries(fuzz_${reader} PRIVATE block_eigs_fuzz block_eigs_flags)
  target_link_options(fuzz_${reader} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzz_targets fuzz_${reader})
endforeach()
foreach(reader hdf5_matrix hdf5_block checkpoint)
  target_sources(fuzz_${reader} PRIVATE fuzz/hdf5_mutator.cpp)
endforeach()
# All that reading a configuration wants of the solvers, which take minutes to compile.
target_sources(fuzz_config PRIVATE ${PROJECT_SOURCE_DIR}/solver/lobpcg/block_width.cpp)
foreach(source config config_checkpoint config_matrix foreign_words)
  target_sources(fuzz_config PRIVATE ${PROJECT_SOURCE_DIR}/apps/config/${source}.cpp)
endforeach()
