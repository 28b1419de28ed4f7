# Set-up of multigrid on the device, stage by stage, beside that on the host.
add_executable(bench_setup bench_setup.cpp setup_memory.cpp)
target_link_libraries(bench_setup PRIVATE block_eigs::solver block_eigs::io block_eigs_flags block_eigs_bench_line fmt::fmt)
