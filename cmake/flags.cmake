# Warnings, optimisation and sanitizers of the project's own targets.
set(BLOCK_EIGS_MARCH "${BLOCK_EIGS_PROCESSOR}")
if(BLOCK_EIGS_NATIVE)
  set(BLOCK_EIGS_MARCH native)
endif()
add_library(block_eigs_flags INTERFACE)
target_include_directories(block_eigs_flags INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
target_compile_options(block_eigs_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual>
  $<$<AND:$<BOOL:${BLOCK_EIGS_WERROR}>,$<COMPILE_LANGUAGE:CXX>>:-Werror>
  $<$<AND:$<BOOL:${BLOCK_EIGS_MARCH}>,$<COMPILE_LANGUAGE:CXX>>:-march=${BLOCK_EIGS_MARCH}>)
# GCC 12 sees overlaps in std::string's operator+ that are not there (its bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(block_eigs_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(BLOCK_EIGS_SANITIZE)
  target_compile_options(block_eigs_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer>)
  target_link_options(block_eigs_flags INTERFACE -fsanitize=address,undefined)
endif()
if(BLOCK_EIGS_FUZZ)
  target_compile_options(block_eigs_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link,address,undefined
    -fsanitize=float-cast-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer -gline-tables-only>)
  target_link_options(block_eigs_flags INTERFACE -fsanitize=address,undefined)
endif()

# A library of the house: block_eigs_library(spmm SOURCES ... PUBLIC ... PRIVATE ...) makes block_eigs::spmm and puts
# it on the list of what is installed. Its imported targets are found again by block_eigs-config.cmake.
function(block_eigs_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(block_eigs_${name} ${arg_SOURCES})
  add_library(block_eigs::${name} ALIAS block_eigs_${name})
  # With BUILD_SHARED_LIBS: before 1.0 each minor version may change the binary interface.
  set_target_properties(block_eigs_${name} PROPERTIES EXPORT_NAME ${name} VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_include_directories(block_eigs_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/block_eigs>)
  target_compile_features(block_eigs_${name} PUBLIC cxx_std_20)
  target_compile_definitions(block_eigs_${name} INTERFACE $<INSTALL_INTERFACE:OMPI_SKIP_MPICXX;MPICH_SKIP_MPICXX>)
  target_link_libraries(block_eigs_${name} PUBLIC ${arg_PUBLIC} PRIVATE $<BUILD_INTERFACE:block_eigs_flags>
    ${arg_PRIVATE})
  set_property(GLOBAL APPEND PROPERTY BLOCK_EIGS_LIBRARIES block_eigs_${name})
endfunction()
