#pragma once

#include <string>
#include <vector>

namespace block_eigs::petsc {

/// Options in PETSc's database, "-pc_type bjacobi -sub_pc_type icc", for as long as this object lives. Their names
/// get the prefix `option_prefix`, so that other PETSc objects of the program do not see them. Not collective, but
/// to be made with the same options on all ranks.
class ScopedOptions {
 public:
  /// `defaults` are ours, `options` the user's: they come later and win. Throws InputError where `options` does
  /// not consist of names that begin with '-' and their values.
  ScopedOptions(const std::string& defaults, const std::string& options);
  ScopedOptions(const ScopedOptions&) = delete;
  ScopedOptions& operator=(const ScopedOptions&) = delete;
  ~ScopedOptions();

  /// Throws InputError that names those of the user's options that PETSc has not asked for so far: misspelt ones,
  /// and those of objects that are not there.
  void require_used() const;

 private:
  std::vector<std::string> names_;  ///< of all, with their prefix, without '-'
  std::vector<std::string> users_;  ///< of the user's
};

/// What PETSc objects that shall see ScopedOptions are told by PCSetOptionsPrefix and its like.
inline constexpr const char* option_prefix = "block_eigs_";

}  // namespace block_eigs::petsc
