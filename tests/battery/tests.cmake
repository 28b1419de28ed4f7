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

add_executable(battery battery/battery.cpp battery/driver.cpp battery/worker.cpp
  battery/write_try.cpp)
target_link_libraries(battery PRIVATE block_eigs_battery CLI11::CLI11 block_eigs_flags)
target_compile_definitions(battery PRIVATE BLOCK_EIGS_MPIEXEC="${MPIEXEC_EXECUTABLE}")

block_eigs_test(battery_judge SOURCES battery/judge_test.cpp battery/systems_test.cpp LIBRARIES block_eigs_battery LABELS unit)

# A part of the battery at 1 to 3 ranks, within five minutes on two cores; all of it is scripts/battery.
function(block_eigs_battery name)
  cmake_parse_arguments(arg "" "RANKS;SECONDS" "ARGUMENTS;ENVIRONMENT" ${ARGN})
  math(EXPR limit "${arg_SECONDS} + 180")
  add_test(NAME battery_${name}.${arg_RANKS} COMMAND battery --ranks ${arg_RANKS} --seconds ${arg_SECONDS} ${arg_ARGUMENTS})
  set_tests_properties(battery_${name}.${arg_RANKS} PROPERTIES LABELS convergence TIMEOUT ${limit} PROCESSORS ${arg_RANKS}
    ENVIRONMENT "${BLOCK_EIGS_TEST_ENVIRONMENT};OMP_NUM_THREADS=1;${arg_ENVIRONMENT}")
endfunction()
block_eigs_battery(defaults RANKS 1 SECONDS 60 ARGUMENTS --defaults --tries 400 --first-seed 101 --at-least 0.99)
block_eigs_battery(defaults RANKS 3 SECONDS 60 ARGUMENTS --defaults --tries 160 --first-seed 201 --at-least 0.96
  --set eigensolver.dense_up_to=0)
# OpenBLAS takes its kernels by the processor, and these round otherwise: those of others find what is only nearly right.
block_eigs_battery(other_kernels RANKS 1 SECONDS 30 ARGUMENTS --defaults --tries 200 --first-seed 301 --at-least 0.98
  ENVIRONMENT OPENBLAS_CORETYPE=Nehalem)
block_eigs_battery(systems RANKS 1 SECONDS 40 ARGUMENTS --systems --tries 800 --first-seed 1301)
block_eigs_battery(systems RANKS 2 SECONDS 40 ARGUMENTS --systems --tries 200 --first-seed 1401 --try-limit 120)
# Many of its combinations of options ask for what cannot be had, so that the share of tries that are done says little.
block_eigs_battery(random RANKS 1 SECONDS 40 ARGUMENTS --random --tries 120 --first-seed 501)

# Tries that were wrong once: a start accepted as it was given, and zeros of vertices without edges behind a window.
function(block_eigs_battery_try name)
  cmake_parse_arguments(arg "" "RANKS" "ARGUMENTS" ${ARGN})
  add_test(NAME battery_try_${name}.${arg_RANKS} COMMAND battery --ranks ${arg_RANKS} --at-least 1 ${arg_ARGUMENTS})
  set_tests_properties(battery_try_${name}.${arg_RANKS} PROPERTIES LABELS convergence TIMEOUT 180 PROCESSORS ${arg_RANKS}
    ENVIRONMENT "${BLOCK_EIGS_TEST_ENVIRONMENT};OMP_NUM_THREADS=1")
endfunction()
block_eigs_battery_try(accepted_as_given RANKS 1 ARGUMENTS --random --family star --seed 11021)
block_eigs_battery_try(window RANKS 3 ARGUMENTS --random --family rmat_laplacian --seed 13033)
