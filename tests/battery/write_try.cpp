#include "tests/battery/write_try.hpp"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "spmm/error.hpp"

namespace block_eigs::test {

namespace {

/// Lower triangle, every bit of its values.
void write_matrix(const std::filesystem::path& path, const DenseMatrix& a) {
  std::string lines;
  long count = 0;
  for (int i = 0; i < a.size; ++i) {
    for (int j = 0; j <= i; ++j) {
      if (a(i, j) == 0.0) continue;
      lines += fmt::format("{} {} {:.17g}\n", i + 1, j + 1, a(i, j));
      ++count;
    }
  }
  std::ofstream out(path);
  out << "%%MatrixMarket matrix coordinate real symmetric\n"
      << fmt::format("{0} {0} {1}\n", a.size, count) << lines;
  require(out.good(), path.string() + ": cannot be written");
}

void replace(std::string& text, const std::string& what, const std::string& by) {
  const std::size_t place = text.find(what);
  if (place != std::string::npos) text.replace(place, what.size(), by);
}

}  // namespace

void write_tries(const Plan& plan, const std::string& folder) {
  const std::filesystem::path place(folder);
  std::filesystem::create_directories(place);
  std::ofstream list(place / "tries.csv");
  list << "name,family,seed,rows,pairs,which,mass\n";
  for (long k = 0; k < plan.tries; ++k) {
    const Try one = make_try(plan.mode, family_of(plan, k), seed_of(plan, k));
    const std::string name = fmt::format("{}_{}", one.family, one.seed);
    write_matrix(place / (name + ".mtx"), one.a);
    std::string yaml = one.yaml;
    replace(yaml, "matrix: {file: memory}", fmt::format("matrix: {{file: {}.mtx}}", name));
    if (one.b) {
      write_matrix(place / (name + "_mass.mtx"), *one.b);
      replace(yaml, "mass: {file: memory}", fmt::format("mass: {{file: {}_mass.mtx}}", name));
    }
    std::ofstream(place / (name + ".yaml")) << yaml;
    list << fmt::format("{},{},{},{},{},{},{}\n", name, one.family, one.seed, one.a.size, one.pairs,
                        one.largest ? "largest" : "smallest", name_of(one.mass));
  }
  require(list.good(), folder + "/tries.csv: cannot be written");
}

}  // namespace block_eigs::test
