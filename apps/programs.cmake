# What both programs share, then the programs.
add_library(block_eigs_apps STATIC
  checkpoint/finished.cpp
  checkpoint/found_state.cpp
  checkpoint/identity.cpp
  checkpoint/problem_identity.cpp
  checkpoint/run_checkpoint.cpp
  checkpoint/state_writer.cpp
  checkpoint/tall_rows.cpp
  choice/choice.cpp
  choice/choice_state.cpp
  choice/cost_model.cpp
  choice/coupled_parts.cpp
  choice/direct_candidate.cpp
  choice/eigen_candidates.cpp
  choice/eigensolver_choice.cpp
  choice/eigensolver_choice_state.cpp
  choice/lanczos_shift.cpp
  choice/linear_choice.cpp
  choice/look_at_spectrum.cpp
  choice/matrix_traits.cpp
  choice/separator_guess.cpp
  choice/shift_follower.cpp
  config/config.cpp
  config/config_checkpoint.cpp
  config/config_matrix.cpp
  config/foreign_words.cpp
  config/help.cpp
  config/read_config.cpp
  input/block_input.cpp
  input/check_mass.cpp
  input/check_mass_densely.cpp
  input/direct.cpp
  input/graph_order.cpp
  input/held_rows.cpp
  input/lanczos_options.cpp
  input/lone_rows.cpp
  input/near_null_space.cpp
  input/operators.cpp
  input/preconditioner.cpp
  input/problem.cpp
  input/right_hand_sides.cpp
  input/scaling.cpp
  input/shift_search.cpp
  journey/chosen_operators.cpp
  journey/cores.cpp
  journey/early_end.cpp
  journey/eigen_ways.cpp
  journey/eigen_ways_lanczos.cpp
  journey/lanczos_start.cpp
  journey/eigensolve.cpp
  journey/held_by_constraints.cpp
  journey/linear_solve.cpp
  journey/inner_precision.cpp
  journey/complete_held.cpp
  journey/lone_pairs.cpp
  journey/memory_limits.cpp
  journey/null_vectors.cpp
  journey/pair_order.cpp
  journey/inertia_count.cpp
  journey/proof.cpp
  journey/proof_choice.cpp
  journey/proof_inertia.cpp
  journey/proof_pencils.cpp
  journey/proof_probe.cpp
  journey/scaled_units.cpp
  journey/session.cpp
  journey/standard_output.cpp
  journey/start.cpp
  journey/stages.cpp
  journey/verify.cpp
  journey/verify_solution.cpp
  report/advice_eigen.cpp
  report/advice_solve.cpp
  report/console.cpp
  report/json.cpp
  report/memory.cpp
  report/progress.cpp
  report/record.cpp
  report/summary.cpp
  report/table.cpp
  report/text.cpp)
target_link_libraries(block_eigs_apps PUBLIC block_eigs::io block_eigs::solver block_eigs::spmm fmt::fmt
  PRIVATE block_eigs::petsc CLI11::CLI11 OpenMP::OpenMP_CXX block_eigs_flags)
target_include_directories(block_eigs_apps PUBLIC ${PROJECT_SOURCE_DIR})
set_source_files_properties(report/text.cpp PROPERTIES COMPILE_DEFINITIONS BLOCK_EIGS_VERSION="${PROJECT_VERSION}")

# What both programs do, for callers in the same process.
add_library(block_eigs_in_memory STATIC
  in_memory/arrays.cpp
  in_memory/eigen_run.cpp
  in_memory/estimated_norm.cpp
  in_memory/linear_run.cpp
  in_memory/mpi_runtime.cpp
  in_memory/run_answer.cpp)
target_link_libraries(block_eigs_in_memory PUBLIC block_eigs_apps
  PRIVATE block_eigs::petsc OpenMP::OpenMP_CXX block_eigs_flags)

add_executable(block-eigs block_eigs.cpp journey/run.cpp)
target_link_libraries(block-eigs PRIVATE block_eigs_apps block_eigs_flags)
set_target_properties(block-eigs PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})

add_executable(block-solve block_solve.cpp journey/solve.cpp)
target_link_libraries(block-solve PRIVATE block_eigs_apps block_eigs_flags)
set_target_properties(block-solve PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
