# Halos from rank to rank, by each transport.
add_executable(bench_halo bench_halo.cpp)
target_link_libraries(bench_halo PRIVATE block_eigs::spmm block_eigs_flags block_eigs_bench_line fmt::fmt)
