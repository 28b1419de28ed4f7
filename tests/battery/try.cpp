#include "tests/battery/try.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "solver/lobpcg/lobpcg.hpp"
#include "tests/battery/systems.hpp"

namespace block_eigs::test {

namespace {

/// FNV-1a: so that a family's tries stay what they are when others come.
std::uint64_t hash(std::string_view text) {
  std::uint64_t value = 0xcbf29ce484222325U;
  for (const char letter : text) value = (value ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  return value;
}

template <std::size_t count>
const char* one_of(Random& random, const std::array<const char*, count>& words) {
  return words[static_cast<std::size_t>(whole(random, 0, static_cast<int>(count) - 1))];
}

/// Rows for so many pairs: some at the edge of what is solved densely, some few, most beyond.
int draw_rows(Random& random, int pairs, int most) {
  const int edge = 5 * default_block_size(pairs);
  const int kind = whole(random, 0, 9);
  if (kind == 0) return std::max(1, edge + whole(random, -2, 3));
  if (kind == 1) return whole(random, 1, 60);
  return std::max(edge + 1, whole(random, 120, most));
}

MassKind draw_mass(Random& random) {
  const int kind = whole(random, 0, 99);
  if (kind < 65) return MassKind::none;
  if (kind < 75) return MassKind::diagonal;
  if (kind < 85) return MassKind::consistent;
  if (kind < 96) return MassKind::ill_conditioned;
  return kind < 98 ? MassKind::singular : MassKind::indefinite;
}

/// Lines of the section eigensolver; `precision` becomes that of the run.
std::string draw_options(Random& random, int pairs, int rows, std::string& precision) {
  std::string text;
  const auto add = [&](const char* key, const std::string& value) {
    text += fmt::format("  {}: {}\n", key, value);
  };
  const std::string preconditioner = draw_preconditioner(random);
  if (!preconditioner.empty()) add("preconditioner", preconditioner);
  if (whole(random, 0, 3) == 0) precision = "float";
  const bool in_float = precision == "float";
  if (whole(random, 0, 1) == 0) {
    const int digits = whole(random, 3, in_float ? 7 : 13);
    add("tolerance", whole(random, 0, 19) == 0 ? "0" : fmt::format("1e-{}", digits));
  }
  add("convergence", one_of<5>(random, {"relative", "relative", "relative", "norm", "absolute"}));
  const int window = whole(random, 0, 4);
  if (window == 0 && pairs > 2) add("block_size", std::to_string(whole(random, std::max(2, pairs / 4), pairs)));
  if (window == 1) add("block_size", std::to_string(std::min(rows, pairs + whole(random, 0, 12))));
  if (whole(random, 0, 2) == 0) add("filtered_start", one_of<2>(random, {"true", "false"}));
  const bool has_float_copy = preconditioner.find("double") == std::string::npos;
  if (whole(random, 0, 3) == 0 && has_float_copy) add("inner_precision", one_of<2>(random, {"float", "double"}));
  add("seed", std::to_string(whole(random, 1, 1000)));
  // Else small problems that iterations leave undone would be solved densely.
  if (whole(random, 0, 2) > 0) add("dense_up_to", "0");
  if (whole(random, 0, 1) == 0) add("filter", one_of<2>(random, {"basis", "block"}));
  return text;
}

}  // namespace

const char* name_of(Mode mode) {
  return mode == Mode::defaults ? "defaults" : mode == Mode::random ? "random" : "systems";
}

Random random_of(Mode mode, const Family& family, std::uint64_t seed) {
  const std::uint64_t kind = mode == Mode::defaults ? 0 : mode == Mode::random ? 1 : 2;
  return Random(hash(family.name) + 0x9e3779b97f4a7c15U * (4 * seed + kind));
}

std::string draw_preconditioner(Random& random) {
  switch (whole(random, 0, 5)) {
    case 0:
      return "{type: none}";
    case 1:
      return "{type: jacobi}";
    case 2:
      return fmt::format("{{type: chebyshev, degree: {}}}", whole(random, 2, 12));
    case 3:
      return fmt::format("{{type: amg, precision: {}}}", one_of<2>(random, {"float", "double"}));
    default:
      return "";
  }
}

Try make_try(Mode mode, const Family& family, std::uint64_t seed) {
  constexpr std::array choices{1, 2, 3, 5, 8, 12, 20, 30};
  if (mode == Mode::systems) return make_system(family, seed);
  Random random = random_of(mode, family, seed);
  Try one;
  one.mode = mode;
  one.family = family.name;
  one.seed = seed;
  one.pairs = choices[static_cast<std::size_t>(whole(random, 0, static_cast<int>(choices.size()) - 1))];
  one.a = family.make(random, draw_rows(random, one.pairs, mode == Mode::defaults ? 600 : 400));
  one.pairs = std::min(one.pairs, one.a.size);
  one.largest = whole(random, 0, 1) == 0;
  one.mass = draw_mass(random);
  if (one.mass != MassKind::none) one.b = make_mass(random, one.mass, one.a.size);
  std::string precision = "double";
  std::string options;
  if (mode == Mode::random) options = draw_options(random, one.pairs, one.a.size, precision);
  if (mode == Mode::random && whole(random, 0, 7) == 0 && !must_be_refused(one.mass)) {
    one.constraints = std::min(whole(random, 1, 6), one.a.size - one.pairs);
  }
  one.yaml = fmt::format(
      "matrix: {{file: memory}}\n{}precision: {}\ndevice: host\neigensolver:\n  pairs: {}\n  which: {}\n{}",
      one.b ? "mass: {file: memory}\n" : "", precision, one.pairs, one.largest ? "largest" : "smallest", options);
  return one;
}

std::string repeat_options(const Try& one) {
  return fmt::format("--{} --family {} --seed {}", name_of(one.mode), one.family, one.seed);
}

CsrRows MemorySource::read(const Partition& partition) {
  CsrRows rows;
  rows.row_begin = partition.begin(rank_);
  rows.global_rows = rows.global_columns = matrix_.size;
  for (GlobalIndex i = rows.row_begin; i < partition.end(rank_); ++i) {
    for (int j = 0; j < matrix_.size; ++j) {
      const double value = matrix_(static_cast<int>(i), j);
      if (value == 0.0) continue;
      rows.columns.push_back(j);
      rows.values.push_back(value);
    }
    rows.row_offsets.push_back(static_cast<Offset>(rows.columns.size()));
  }
  return rows;
}

}  // namespace block_eigs::test
