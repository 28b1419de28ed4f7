#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/source/matrix_source.hpp"
#include "tests/battery/families.hpp"

namespace block_eigs::test {

/// What a try is: eigenpairs at default settings, so that the matrix alone varies; eigenpairs with one combination
/// of options; or a linear system, half of them at default settings.
enum class Mode { defaults, random, systems };
const char* name_of(Mode mode);

/// What the matrix of a system is, to the precision of doubles.
enum class Definiteness { definite, semidefinite, indefinite };
const char* name_of(Definiteness definiteness);

/// F of A X = F.
struct Sides {
  std::string kind{};
  std::vector<double> values{};  ///< row-major, n x Try::pairs
};

/// One problem of the battery: a pure function of mode, family and seed.
struct Try {
  Mode mode = Mode::defaults;
  std::string family;
  std::uint64_t seed = 0;
  DenseMatrix a{0};
  std::optional<DenseMatrix> b{};  ///< none: the identity
  MassKind mass = MassKind::none;
  int pairs = 1;  ///< or right-hand sides
  bool largest = false;
  Definiteness definiteness = Definiteness::definite;  ///< of the matrix of a system
  double condition = 1.0;                              ///< of that with a diagonal of ones, where it is definite
  Sides sides{};                                       ///< of a system
  int constraints = 0;                                 ///< leading eigenvectors that are given, and not asked for
  std::string yaml{};                                  ///< the config of the run
};

Try make_try(Mode mode, const Family& family, std::uint64_t seed);

/// Random numbers of a try. Other families do not change them.
Random random_of(Mode mode, const Family& family, std::uint64_t seed);
/// A preconditioner in YAML, or nothing for the default.
std::string draw_preconditioner(Random& random);

/// "--random --family arrow --seed 17"
std::string repeat_options(const Try& one);

/// A matrix in memory, entries that are zero left out.
class MemorySource final : public MatrixSource {
 public:
  /// `matrix` must outlive it.
  MemorySource(const DenseMatrix& matrix, int rank) : matrix_(matrix), rank_(rank) {}

  GlobalIndex rows() const override { return matrix_.size; }
  GlobalIndex columns() const override { return matrix_.size; }
  std::string description() const override { return "a matrix of the battery"; }
  CsrRows read(const Partition& partition) override;

 private:
  const DenseMatrix& matrix_;
  int rank_;
};

}  // namespace block_eigs::test
