# How quickly matrix files are read; scripts/bench-read compares with SciPy.
add_executable(bench_read bench_read.cpp)
target_link_libraries(bench_read PRIVATE block_eigs_apps block_eigs::io block_eigs::spmm block_eigs_flags block_eigs_bench_line
  fmt::fmt)
