#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/source/matrix_source.hpp"
#include "tests/battery/families.hpp"

namespace block_eigs::test {

/// What a try varies: the matrix alone, at default settings; or one combination of options as well.
enum class Mode { defaults, random };
const char* name_of(Mode mode);

/// One problem of the battery: a pure function of mode, family and seed.
struct Try {
  Mode mode = Mode::defaults;
  std::string family;
  std::uint64_t seed = 0;
  DenseMatrix a{0};
  std::optional<DenseMatrix> b{};  ///< none: the identity
  MassKind mass = MassKind::none;
  int pairs = 1;
  bool largest = false;
  std::string yaml{};  ///< the config of the run
};

Try make_try(Mode mode, const Family& family, std::uint64_t seed);

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
