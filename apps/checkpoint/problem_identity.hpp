#pragma once

#include <functional>
#include <string>

#include "apps/checkpoint/identity.hpp"
#include "apps/checkpoint/tall_rows.hpp"
#include "apps/input/problem.hpp"

namespace block_eigs {

/// What must be alike where a run goes on: options, and digests of the matrices and vectors that make the problem,
/// which come to be known while these are read.
class ProblemIdentity {
 public:
  /// `file` is what messages call the checkpoint.
  ProblemIdentity(const Communicator& comm, std::string file, Identity options);

  /// There is a state, and this is what it says of itself: from here on what differs is refused. Throws InputError
  /// on all ranks where options do. Collective.
  void compare_with(Identity before);
  /// From here on the entries that are read from the sources are taken note of. Not collective.
  void watch(Sources& sources);
  /// These, once they were read, of a matrix with that many rows. Throws InputError on all ranks where they are
  /// others than before. Collective.
  void add_matrices(GlobalIndex rows);
  /// Likewise vectors, as a solver has them.
  template <class T>
  void add_vectors(const std::string& what, const DenseBlock<T>& vectors, const RowLayout& layout);

  /// All of it so far.
  const Identity& known() const { return known_; }

 private:
  void add(const std::string& what, const std::string& digest);

  Communicator comm_;
  std::string file_;
  Identity known_;
  std::optional<Identity> before_;
  std::function<std::uint64_t()> matrix_digest_;
  std::function<std::uint64_t()> mass_digest_;
};

}  // namespace block_eigs
