#pragma once

#include "io/config/yaml_section.hpp"

namespace block_eigs {

/// Keys and values as other programs call them (SciPy, SLEPc, PETSc, hypre) get an answer in place of "unknown
/// key": throw InputError at their place, with what is called so here, or why it is not there.
void answer_foreign_words_of_run(const YamlSection& section);
void answer_foreign_words_of_eigensolver(const YamlSection& section);
void answer_foreign_words_of_linear_solver(const YamlSection& section);

}  // namespace block_eigs
