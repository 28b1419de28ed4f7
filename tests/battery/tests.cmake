# Seeded matrices of many kinds through the stages of block-eigs, against LAPACK; docs/battery.md.
find_package(CLI11 REQUIRED)
add_library(block_eigs_families STATIC battery/families.cpp battery/families_graphs.cpp battery/families_grids.cpp
  battery/families_scales.cpp battery/families_spectra.cpp)
target_link_libraries(block_eigs_families PUBLIC block_eigs::io block_eigs::solver block_eigs::spmm fmt::fmt
  PRIVATE block_eigs_flags)
target_include_directories(block_eigs_families PUBLIC ${PROJECT_SOURCE_DIR})

add_library(block_eigs_battery STATIC battery/judge.cpp battery/record.cpp battery/reference.cpp battery/solve_try.cpp
  battery/systems.cpp battery/systems_judge.cpp battery/try.cpp)
target_link_libraries(block_eigs_battery PUBLIC block_eigs_families block_eigs_apps PRIVATE block_eigs_flags)

add_executable(battery battery/battery.cpp battery/driver.cpp battery/worker.cpp)
target_link_libraries(battery PRIVATE block_eigs_battery CLI11::CLI11 block_eigs_flags)
target_compile_definitions(battery PRIVATE BLOCK_EIGS_MPIEXEC="${MPIEXEC_EXECUTABLE}")

block_eigs_test(battery_judge SOURCES battery/judge_test.cpp LIBRARIES block_eigs_battery LABELS unit)
