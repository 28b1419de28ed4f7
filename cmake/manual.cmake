# Man pages (by Python, from --help and docs/config.md) and shell completion, for the prefix.

find_program(BLOCK_EIGS_MANUAL_PYTHON NAMES python3 PATHS /usr/bin DOC "Python that writes the man pages")
mark_as_advanced(BLOCK_EIGS_MANUAL_PYTHON)
if(BLOCK_EIGS_MANUAL_PYTHON)
  set(man_folder ${PROJECT_BINARY_DIR}/man)
  set(man_pages ${man_folder}/block-eigs.1 ${man_folder}/block-solve.1 ${man_folder}/block-eigs-config.5)
  file(GLOB man_writers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/packaging/man/*.py)
  add_custom_command(OUTPUT ${man_pages}
    COMMAND ${BLOCK_EIGS_MANUAL_PYTHON} ${PROJECT_SOURCE_DIR}/packaging/man/manual.py --source ${PROJECT_SOURCE_DIR}
      --version ${PROJECT_VERSION} --output ${man_folder}
      block-eigs=$<TARGET_FILE:block-eigs> block-solve=$<TARGET_FILE:block-solve>
    DEPENDS block-eigs block-solve ${man_writers} ${PROJECT_SOURCE_DIR}/docs/config.md
    COMMENT "Writing man pages" VERBATIM)
  if(BLOCK_EIGS_DEBIAN)  # Debian's are compressed
    list(TRANSFORM man_pages APPEND .gz OUTPUT_VARIABLE compressed_pages)
    add_custom_command(OUTPUT ${compressed_pages} COMMAND gzip -9nkf ${man_pages} DEPENDS ${man_pages} VERBATIM)
    list(TRANSFORM man_pages APPEND .gz)
  endif()
  add_custom_target(block_eigs_manual ALL DEPENDS ${man_pages})
  # Not there where only the Python module was built.
  foreach(page ${man_pages})
    string(REGEX MATCH "\\.([15])(\\.gz)?$" section "${page}")
    install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${CMAKE_MATCH_1} COMPONENT programs OPTIONAL)
  endforeach()
endif()

# The table of keys goes into the completion of each shell.
set(completion ${PROJECT_SOURCE_DIR}/packaging/completion)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${completion}/keys)
file(READ ${completion}/keys keys)
string(REGEX REPLACE "#[^\n]*\n" "" keys "${keys}")
string(REGEX REPLACE "\n$" "" keys "${keys}")
foreach(shell bash zsh fish)
  configure_file(${completion}/block-eigs.${shell}.in ${PROJECT_BINARY_DIR}/completion/block-eigs.${shell} @ONLY)
endforeach()
foreach(program block-eigs block-solve)
  install(FILES ${PROJECT_BINARY_DIR}/completion/block-eigs.bash RENAME ${program}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT programs)
  install(FILES ${PROJECT_BINARY_DIR}/completion/block-eigs.fish RENAME ${program}.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT programs)
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/completion/block-eigs.zsh RENAME _block-eigs
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT programs)
