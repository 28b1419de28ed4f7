# Who may include whom: apps -> {io, solver} -> spmm, and which room may see which third-party header. Reads the
# sources as text and fails with a line for every include that breaks a rule.
#
#   cmake -DROOT=<source tree> -P check_layers.cmake
cmake_minimum_required(VERSION 3.25)

file(GLOB_RECURSE files RELATIVE ${ROOT}
  ${ROOT}/spmm/*.[ch]pp ${ROOT}/solver/*.[ch]pp ${ROOT}/io/*.[ch]pp ${ROOT}/apps/*.[ch]pp
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
rule(yaml_in_io_config    "."        "^io/config/[^/]+\\.cpp$" "^yaml-cpp/")
rule(mpi_where_it_belongs "."
  "^(spmm/parallel/(communicator|halo_exchange|[a-z_]*transport)\\.[ch]pp|spmm/cuda/.*|io/.*|apps/(block_eigs|block_solve|journey/session)\\.cpp|apps/bench/[^/]+\\.[ch]pp)$" "^mpi\\.h$")

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
