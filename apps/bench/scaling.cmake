# What travels between ranks, by transport.
add_executable(bench_scaling bench_scaling.cpp)
target_link_libraries(bench_scaling PRIVATE block_eigs::io block_eigs::spmm block_eigs_flags CLI11::CLI11 fmt::fmt)
