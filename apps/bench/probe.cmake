# How surely the probe finds pairs that were removed from a result.
add_executable(bench_probe bench_probe.cpp)
target_link_libraries(bench_probe PRIVATE block_eigs_apps block_eigs_flags fmt::fmt CLI11::CLI11)
