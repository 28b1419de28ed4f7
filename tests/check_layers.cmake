# Who may include whom: apps -> {io, solver} -> spmm, and which room may see which third-party header. Reads the
# sources as text and fails with a line for every include that breaks a rule.
#
#   cmake -DROOT=<source tree> -P check_layers.cmake
cmake_minimum_required(VERSION 3.25)

file(GLOB_RECURSE files RELATIVE ${ROOT}
  ${ROOT}/spmm/*.[ch]pp ${ROOT}/solver/*.[ch]pp ${ROOT}/io/*.[ch]pp ${ROOT}/apps/*.[ch]pp
  ${ROOT}/python/*.[ch]pp
  ${ROOT}/spmm/*.cu ${ROOT}/solver/*.cu ${ROOT}/io/*.cu ${ROOT}/apps/*.cu
  ${ROOT}/spmm/*.cuh ${ROOT}/solver/*.cuh ${ROOT}/io/*.cuh ${ROOT}/apps/*.cuh)
list(FILTER files EXCLUDE REGEX "^apps/bench/peers/")  # compares with others and includes what they need

# files matching WHERE (and not matching EXCEPT) must not include what matches FORBIDDEN.
set(rules)
function(rule name where except forbidden)
  set(rules ${rules} ${name} PARENT_SCOPE)
  set(${name}_where "${where}" PARENT_SCOPE)
  set(${name}_except "${except}" PARENT_SCOPE)
  set(${name}_forbidden "${forbidden}" PARENT_SCOPE)
endfunction()

set(none "^$")
rule(spmm_is_the_bottom   "^spmm/"   "${none}" "^(solver|io|apps|tests)/")
rule(solver_sees_spmm     "^solver/" "${none}" "^(io|apps|tests)/")
rule(io_sees_spmm         "^io/"     "${none}" "^(solver|apps|tests)/")
rule(apps_are_no_tests    "^apps/"   "${none}" "^tests/")
rule(backends_are_private "."        "^(spmm|apps/bench)/" "^spmm/(host|cuda)/")
rule(no_relative_paths    "."        "${none}" "^\\.\\.?/")
rule(cuda_in_spmm_cuda    "."        "^spmm/cuda/"
  "^(cuda|cu[A-Z]|cublas|cusparse|cusolver|curand|nccl|nvml|nvtx|thrust/|cub/|cooperative_groups|mma\\.h|driver_types\\.h|vector_types\\.h)|\\.cuh$")
rule(petsc_in_io_petsc    "."        "^io/petsc/" "^(petsc|slepc)")
rule(hdf5_in_io_hdf5      "."        "^io/hdf5/[^/]+\\.cpp$" "^(hdf5(_hl)?|H5[A-Za-z]*)\\.h$")
rule(scotch_in_io_partition "."       "^io/partition/graph_owners\\.cpp$" "scotch")
rule(yaml_in_io_config    "."        "^io/config/[^/]+\\.cpp$" "^yaml-cpp/")
rule(mpi_where_it_belongs "."
  "^(spmm/parallel/(communicator|node_board|halo_exchange|[a-z_]*transport|peer_(channel|store))\\.[ch]pp|spmm/cuda/.*|io/.*|apps/(block_eigs|block_solve|journey/session|in_memory/mpi_runtime)\\.cpp|apps/bench/[^/]+\\.[ch]pp)$" "^mpi\\.h$")

# Inner rooms. What spmm has in its root is words that all rooms use.
rule(spmm_root_is_words      "^spmm/[^/]+$"       "${none}" "^spmm/.+/")
rule(device_knows_no_ranks   "^spmm/device/"      "^spmm/device/(device|kernels|sparse_algebra)\\.cpp$" "^spmm/(parallel|matrix|host|cuda)/")
rule(parallel_sees_device    "^spmm/parallel/"    "^spmm/parallel/context\\.cpp$" "^spmm/(matrix|host|cuda)/")
rule(backends_see_no_ranks   "^spmm/(host|cuda)/" "^spmm/host/sparse/column_major_[^/]+$" "^spmm/(parallel|matrix)/")
rule(host_is_not_cuda        "^spmm/host/"        "${none}" "^spmm/cuda/")
rule(cuda_is_not_host        "^spmm/cuda/"        "${none}" "^spmm/host/")
rule(small_is_numbers_alone  "^solver/small/"     "${none}" "^solver/(davidson|lobpcg|block_cg|preconditioner|multigrid)/")
rule(space_sees_small        "^solver/space/"     "${none}" "^solver/(davidson|lobpcg|block_cg|preconditioner|multigrid)/")
rule(davidson_is_below_lobpcg "^solver/davidson/" "${none}" "^solver/(lobpcg|block_cg|preconditioner|multigrid|proof)/")
rule(preconditioners_are_no_solvers "^solver/preconditioner/" "${none}" "^solver/(lobpcg|block_cg|multigrid)/")
rule(lobpcg_stands_alone     "^solver/lobpcg/"    "${none}" "^solver/(block_cg|preconditioner|multigrid)/")
rule(block_cg_stands_alone   "^solver/block_cg/"  "${none}" "^solver/(lobpcg|preconditioner|multigrid)/")
rule(multigrid_sees_lobpcg_from_outside "^solver/multigrid/" "${none}" "^solver/(block_cg/|lobpcg/([^l]|l[^o]|lobpcg[^.]))")
rule(proof_sees_lobpcg_from_outside "^solver/proof/" "${none}" "^solver/(block_cg|preconditioner|multigrid)/|^solver/lobpcg/([^l]|l[^o]|lobpcg[^.])")
rule(proof_comes_after_solvers "^solver/(small|space|lobpcg|block_cg|preconditioner|multigrid)/" "${none}" "^solver/proof/")
rule(io_files_know_no_room   "^io/files/"    "${none}" "^io/(source|hdf5|formats|generate|config|result|petsc)/")
rule(io_source_stands_alone  "^io/source/"   "${none}" "^io/(files|hdf5|formats|generate|config|result|petsc)/")
rule(io_hdf5_sees_files      "^io/hdf5/"     "${none}" "^io/(source|formats|generate|config|result|petsc)/")
rule(io_formats_read         "^io/formats/"  "${none}" "^io/(generate|config|result|petsc)/")
rule(io_generate_sees_source "^io/generate/" "${none}" "^io/(files|hdf5|formats|config|result|petsc)/")
rule(io_config_stands_alone  "^io/config/"   "${none}" "^io/(files|source|hdf5|formats|generate|result|petsc)/")
rule(io_result_sees_hdf5     "^io/result/"   "${none}" "^io/(source|formats|generate|config|petsc)/")
rule(io_partition_sees_source "^io/partition/" "${none}" "^io/(files|hdf5|formats|generate|config|result|petsc)/")
rule(partition_is_the_last   "^io/(files|source|hdf5|formats|generate|config|result)/" "${none}" "^io/partition/")
rule(petsc_stands_alone      "^io/petsc/"    "${none}" "^io/(files|source|hdf5|formats|generate|config|result|partition)/")
rule(petsc_plugin_is_private "."             "^io/petsc/plugin/" "^io/petsc/plugin/")
rule(config_sees_no_room     "^apps/config/"  "${none}" "^apps/(input|report|journey|bench)/")
rule(input_sees_config       "^apps/input/"   "${none}" "^apps/(report|journey|bench)/")
rule(choice_sees_input       "^apps/choice/"  "${none}" "^apps/(report|journey|bench)/")
rule(choice_is_the_journeys  "^apps/(config|input|report|bench)/" "${none}" "^apps/choice/")
rule(report_sees_input       "^apps/report/"  "${none}" "^apps/(journey|bench)/")
rule(journey_is_no_bench     "^apps/journey/" "${none}" "^apps/bench/")
rule(in_memory_is_the_last   "^apps/(config|input|choice|journey|report|bench)/"    "${none}" "^apps/in_memory/")
rule(in_memory_is_no_bench   "^apps/in_memory/" "${none}" "^apps/bench/")
rule(bindings_see_in_memory  "^python/"       "${none}" "^(apps/(journey|choice|bench)|tests)/")
rule(bindings_are_private    "."              "^python/" "^(python|nanobind)/")
rule(bench_sees_input        "^apps/bench/"   "${none}" "^apps/(report/|journey/([^e]|e[^i]))")

set(errors "")
foreach(file ${files})
  file(STRINGS ${ROOT}/${file} lines REGEX "^[ \t]*#[ \t]*(include|if|ifdef|ifndef)")
  foreach(line IN LISTS lines)
    if(line MATCHES "#[ \t]*include[ \t]*[<\"]([^>\"]+)[>\"]")
      set(header "${CMAKE_MATCH_1}")
      foreach(rule ${rules})
        if(file MATCHES "${${rule}_where}" AND NOT file MATCHES "${${rule}_except}"
            AND header MATCHES "${${rule}_forbidden}")
          list(APPEND errors "${file} includes ${header}: ${rule}")
        endif()
      endforeach()
    elseif(NOT file MATCHES "^(spmm/(cuda|host)|io/petsc)/" AND line MATCHES "#[ \t]*if")
      list(APPEND errors "${file} has ${line}: conditional_compilation_in_backends_only")
    endif()
  endforeach()
endforeach()

list(LENGTH files count)
if(count EQUAL 0)
  list(APPEND errors "no sources under ${ROOT}: nothing was checked")
endif()
if(errors)
  list(JOIN errors "\n  " text)
  message(FATAL_ERROR "The include rules of docs/architecture.md are broken:\n  ${text}")
endif()
message(STATUS "${count} sources keep the include rules")
