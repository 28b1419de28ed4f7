#include "apps/config/foreign_words.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>

namespace block_eigs {

namespace {

struct Word {
  const char* word;
  const char* answer;
};

constexpr const char* no_inside =
    "is not there: LOBPCG finds eigenvalues at the ends of the spectrum. Those next to a point below all of them "
    "are "
    "'which: smallest', which needs no factorisation; for those inside use a shift-invert solver (SciPy's eigsh, "
    "SLEPc)";

constexpr std::array of_eigensolver{
    Word{"tol", "is called 'tolerance' here"},
    Word{"rtol", "is called 'tolerance' here"},
    Word{"atol", "is 'tolerance' with 'convergence: absolute' here"},
    Word{"k", "is called 'pairs' here"},
    Word{"nev", "is called 'pairs' here"},
    Word{"n_eigenvalues", "is called 'pairs' here"},
    Word{"num_eigenvalues", "is called 'pairs' here"},
    Word{"maxiter", "is called 'max_iterations' here"},
    Word{"max_iter", "is called 'max_iterations' here"},
    Word{"max_it", "is called 'max_iterations' here"},
    Word{"ncv", "has no counterpart: LOBPCG keeps three blocks of 'block_size' columns"},
    Word{"blocksize", "is called 'block_size' here"},
    Word{"sigma", no_inside},
    Word{"target", no_inside},
    Word{"v0", "is called 'initial' here: a block of vectors in a file"},
    Word{"X", "is called 'initial' here: a block of vectors in a file"},
    Word{"Y", "is called 'constraints' here: a block of vectors in a file"},
    Word{"M", "is the section 'mass' beside 'matrix' (B of A x = lambda B x), or 'preconditioner'"},
    Word{"B", "is the section 'mass' beside 'matrix'"},
    Word{"pc", "is called 'preconditioner' here"},
    Word{"precond", "is called 'preconditioner' here"},
};

constexpr std::array of_which{
    Word{"SA", "is called 'smallest' here"},
    Word{"LA", "is called 'largest' here"},
    Word{"SR", "is called 'smallest' here"},
    Word{"LR", "is called 'largest' here"},
    Word{"SM",
         "is 'smallest' where no eigenvalue is negative; values next to zero inside the spectrum are not for "
         "LOBPCG: use a shift-invert solver (SciPy's eigsh with sigma=0, SLEPc)"},
    Word{"LM", "is 'largest' where the largest in magnitude are positive, else 'smallest'"},
    Word{"BE", "is one run with 'smallest' and one with 'largest'"},
};

constexpr std::array of_linear_solver{
    Word{"tol", "is called 'tolerance' here"},
    Word{"rtol", "is called 'tolerance' here, relative to ||f||"},
    Word{"atol", "is not there: 'tolerance' is relative to ||f||"},
    Word{"maxiter", "is called 'max_iterations' here"},
    Word{"max_iter", "is called 'max_iterations' here"},
    Word{"max_it", "is called 'max_iterations' here"},
    Word{"x0", "is called 'initial' here: a block of vectors in a file"},
    Word{"pc", "is called 'preconditioner' here"},
    Word{"M", "is called 'preconditioner' here"},
};

constexpr std::array of_run{
    Word{"A", "is called 'matrix' here"},
    Word{"K", "is called 'matrix' here"},
    Word{"B", "is called 'mass' here"},
    Word{"M", "is called 'mass' here"},
    Word{"rhs", "is called 'right_hand_sides' here"},
    Word{"b", "is called 'right_hand_sides' here"},
    Word{"solver", "is 'eigensolver' for block-eigs, 'linear_solver' for block-solve"},
    Word{"pairs", "belongs into the section 'eigensolver'"},
    Word{"k", "belongs into the section 'eigensolver', as 'pairs'"},
    Word{"which", "belongs into the section 'eigensolver'"},
    Word{"verify", "belongs into the section 'eigensolver'"},
    Word{"tolerance", "belongs into the section 'eigensolver' or 'linear_solver'"},
    Word{"tol", "belongs into the section 'eigensolver' or 'linear_solver', as 'tolerance'"},
    Word{"max_iterations", "belongs into the section 'eigensolver' or 'linear_solver'"},
    Word{"block_size", "belongs into the section 'eigensolver' or 'linear_solver'"},
    Word{"preconditioner", "belongs into the section 'eigensolver' or 'linear_solver'"},
};

void answer_keys(const YamlSection& section, std::span<const Word> words) {
  for (const Word& word : words) section.check(word.word, !section.has(word.word), word.answer);
}

/// A word where a section is wanted: what it most likely stands for.
void answer_word(const YamlSection& section, const std::string& key, const char* item) {
  const std::string word = section.scalar(key);
  section.check(key, word.empty(), "'" + word + "' is written {" + item + ": " + word + "} here");
}

}  // namespace

void answer_foreign_words_of_run(const YamlSection& section) {
  answer_keys(section, of_run);
  for (const char* key : {"matrix", "mass", "right_hand_sides", "output"}) answer_word(section, key, "file");
}

void answer_foreign_words_of_eigensolver(const YamlSection& section) {
  answer_keys(section, of_eigensolver);
  answer_word(section, "preconditioner", "type");
  for (const char* key : {"initial", "constraints"}) answer_word(section, key, "file");
  const std::string which = section.scalar("which");
  for (const Word& word : of_which) section.check("which", which != word.word, "'" + which + "' " + word.answer);
}

void answer_foreign_words_of_linear_solver(const YamlSection& section) {
  answer_keys(section, of_linear_solver);
  answer_word(section, "preconditioner", "type");
  answer_word(section, "initial", "file");
}

}  // namespace block_eigs
