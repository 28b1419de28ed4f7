add_executable(bench_linear bench_linear.cpp contenders.cpp contest.cpp stream.cpp)
if(BLOCK_EIGS_HAVE_PETSC)
  target_sources(bench_linear PRIVATE peers/petsc_ksp.cpp)
  target_link_libraries(bench_linear PRIVATE PkgConfig::PETSC)
else()
  target_sources(bench_linear PRIVATE peers/petsc_ksp_unavailable.cpp)
endif()
target_link_libraries(bench_linear PRIVATE block_eigs_apps block_eigs::solver block_eigs::io block_eigs::petsc block_eigs_flags OpenMP::OpenMP_CXX
  fmt::fmt block_eigs_bench_line)
