#include "io/petsc/bridge/petsc_options.hpp"

#include <petscsys.h>

#include <cctype>
#include <sstream>

#include "io/petsc/bridge/petsc_session.hpp"
#include "spmm/error.hpp"

namespace block_eigs::petsc {

namespace {

constexpr const char* taking = "preconditioner.options";

bool is_name(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1])) != 0;
}

/// `options` with our prefix behind every '-'; appends the names to `names`.
std::string prefixed(const std::string& options, std::vector<std::string>& names) {
  std::istringstream words(options);
  std::string word;
  std::string text;
  bool first = true;
  while (words >> word) {
    if (is_name(word)) {
      names.push_back(option_prefix + word.substr(1));
      word = "-" + names.back();
    } else {
      require(!first, std::string(taking) + ": '" + word +
                          "' is no option; write PETSc's options as on its command line: \"-pc_type bjacobi\"");
    }
    first = false;
    text += word + ' ';
  }
  return text;
}

}  // namespace

ScopedOptions::ScopedOptions(const std::string& defaults, const std::string& options) {
  const std::string ours = prefixed(defaults, names_);
  const std::string theirs = prefixed(options, users_);
  names_.insert(names_.end(), users_.begin(), users_.end());
  check_input(PetscOptionsInsertString(nullptr, (ours + theirs).c_str()), taking);
}

ScopedOptions::~ScopedOptions() {
  for (const std::string& name : names_) static_cast<void>(PetscOptionsClearValue(nullptr, ("-" + name).c_str()));
}

void ScopedOptions::require_used() const {
  std::string unused;
  for (const std::string& name : users_) {
    PetscBool used = PETSC_FALSE;
    check(PetscOptionsUsed(nullptr, name.c_str(), &used), taking);
    if (!used) unused += (unused.empty() ? "-" : ", -") + name.substr(std::string(option_prefix).size());
  }
  require(unused.empty(), std::string(taking) + ": PETSc does not know, or has no use for, " + unused);
}

}  // namespace block_eigs::petsc
