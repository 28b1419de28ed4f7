# What travels between ranks, by transport, and what solvers make of more ranks.
add_executable(bench_scaling bench_scaling.cpp contenders.cpp contest.cpp counted_transport.cpp scaling_solvers.cpp
  stream.cpp)
target_link_libraries(bench_scaling PRIVATE block_eigs_apps block_eigs::solver block_eigs::io block_eigs::spmm
  block_eigs_flags block_eigs_bench_line OpenMP::OpenMP_CXX fmt::fmt)
