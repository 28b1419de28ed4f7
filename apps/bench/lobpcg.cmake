add_executable(bench_lobpcg bench_lobpcg.cpp contenders.cpp contest.cpp stream.cpp)
if(BLOCK_EIGS_HAVE_SLEPC)
  target_sources(bench_lobpcg PRIVATE peers/slepc_eps.cpp)
  target_link_libraries(bench_lobpcg PRIVATE PkgConfig::SLEPC PkgConfig::PETSC)
else()
  target_sources(bench_lobpcg PRIVATE peers/slepc_eps_unavailable.cpp)
endif()
target_link_libraries(bench_lobpcg PRIVATE block_eigs_apps block_eigs::solver block_eigs::io block_eigs::petsc block_eigs_flags OpenMP::OpenMP_CXX
  fmt::fmt block_eigs_bench_line)
