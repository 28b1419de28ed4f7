# What both programs share, then the programs.
add_library(block_eigs_apps STATIC
  block_input.cpp
  config.cpp
  config_matrix.cpp
  console.cpp
  float_twin.cpp
  memory.cpp
  near_null_space.cpp
  preconditioner.cpp
  problem.cpp
  progress.cpp
  record.cpp
  right_hand_sides.cpp
  session.cpp
  start_vectors.cpp
  table.cpp
  terminal.cpp
  text.cpp
  verify.cpp
  verify_solution.cpp
  version.cpp)
target_link_libraries(block_eigs_apps PUBLIC block_eigs::io block_eigs::solver block_eigs::spmm fmt::fmt
  PRIVATE block_eigs::petsc CLI11::CLI11 block_eigs_flags)
target_include_directories(block_eigs_apps PUBLIC ${PROJECT_SOURCE_DIR})
set_source_files_properties(version.cpp PROPERTIES COMPILE_DEFINITIONS BLOCK_EIGS_VERSION="${PROJECT_VERSION}")

add_executable(block-eigs block_eigs.cpp run.cpp)
target_link_libraries(block-eigs PRIVATE block_eigs_apps block_eigs_flags)
set_target_properties(block-eigs PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})

add_executable(block-solve block_solve.cpp solve.cpp)
target_link_libraries(block-solve PRIVATE block_eigs_apps block_eigs_flags)
set_target_properties(block-solve PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
