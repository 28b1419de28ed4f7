#include "apps/bench/bench_spmm_cases.hpp"

#include <charconv>
#include <cmath>
#include <fstream>
#include <functional>
#include <sstream>

#include "io/formats/matrix_file.hpp"
#include "io/generate/generate.hpp"
#include "spmm/error.hpp"

namespace block_eigs::bench {

namespace {

double number(const SpmmCase& one, const std::string& key, double otherwise = std::nan("")) {
  const auto found = one.options.find(key);
  if (found == one.options.end()) {
    require(!std::isnan(otherwise), one.where + ": " + one.kind + " needs " + key + "=...");
    return otherwise;
  }
  const std::string& text = found->second;
  double value = 0.0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  require(result.ec == std::errc{} && result.ptr == text.data() + text.size(),
          one.where + ": " + key + "=" + text + " is not a number");
  return value;
}

GlobalIndex integer(const SpmmCase& one, const std::string& key) {
  return static_cast<GlobalIndex>(number(one, key));
}

std::vector<GlobalIndex> size_of(const SpmmCase& one) {
  const auto found = one.options.find("size");
  require(found != one.options.end(), one.where + ": " + one.kind + " needs size=...");
  std::vector<GlobalIndex> size;
  std::istringstream parts(found->second);
  for (std::string part; std::getline(parts, part, ',');) {
    SpmmCase single = one;
    single.options["size"] = part;
    size.push_back(integer(single, "size"));
  }
  return size;
}

/// Rows with `per_row` entries, the k-th of row i at column_of(i, k).
CsrArrays<double> equal_rows(const SpmmCase& one, Offset per_row,
                             const std::function<LocalIndex(std::uint64_t, Offset)>& column_of) {
  CsrArrays<double> a;
  a.columns = static_cast<LocalIndex>(integer(one, "columns"));
  const Offset rows = integer(one, "rows");
  a.row_offsets.resize(static_cast<std::size_t>(rows) + 1);
  a.column_indices.resize(static_cast<std::size_t>(rows * per_row));
  a.values.resize(a.column_indices.size());
#pragma omp parallel for schedule(static)
  for (Offset row = 0; row < rows; ++row) {
    a.row_offsets[static_cast<std::size_t>(row) + 1] = (row + 1) * per_row;
    for (Offset k = 0; k < per_row; ++k) {
      const auto position = static_cast<std::size_t>(row * per_row + k);
      a.column_indices[position] = column_of(static_cast<std::uint64_t>(row), k);
      a.values[position] = static_cast<double>(position % 1021) / 1021.0 - 0.5;
    }
  }
  return a;
}

CsrArrays<double> dense(const SpmmCase& one) {
  return equal_rows(one, integer(one, "columns"),
                    [](std::uint64_t, Offset k) { return static_cast<LocalIndex>(k); });
}

CsrArrays<double> random_fill(const SpmmCase& one) {
  const double fill = number(one, "fill");
  require(fill > 0.0 && fill <= 1.0, one.where + ": fill must be in (0, 1]");
  const Offset stretch = static_cast<Offset>(1.0 / fill);
  return equal_rows(one, integer(one, "columns") / stretch, [stretch](std::uint64_t row, Offset k) {
    std::uint64_t bits = (row << 32 | static_cast<std::uint64_t>(k)) * 0x9e3779b97f4a7c15U;
    bits = (bits ^ bits >> 29) * 0xbf58476d1ce4e5b9U;
    return static_cast<LocalIndex>(k * stretch +
                                   static_cast<Offset>((bits >> 33) % static_cast<std::uint64_t>(stretch)));
  });
}

std::unique_ptr<MatrixSource> open_source(const Communicator& comm, const SpmmCase& one,
                                          const std::string& matrices) {
  const LaplacianOptions grid =
      one.kind.starts_with("laplacian")
          ? LaplacianOptions{size_of(one), static_cast<int>(number(one, "points", 0)), {}}
          : LaplacianOptions{};
  if (one.kind == "laplacian1d") return laplacian1d(comm, grid);
  if (one.kind == "laplacian2d") return laplacian2d(comm, grid);
  if (one.kind == "laplacian3d") return laplacian3d(comm, grid);
  if (one.kind == "schroedinger3d") return schroedinger3d(comm, {.size = size_of(one)});
  if (one.kind == "elasticity3d") return elasticity3d(comm, {.size = size_of(one), .clamped = false});
  if (one.kind == "rmat" || one.kind == "graph_laplacian") {
    RmatOptions graph;
    graph.scale = static_cast<int>(integer(one, "scale"));
    graph.edge_factor = static_cast<int>(integer(one, "edge_factor"));
    graph.symmetric = one.kind == "graph_laplacian";
    return graph.symmetric ? graph_laplacian(comm, graph) : rmat(comm, graph);
  }
  if (one.kind == "random_uniform") {
    return random_uniform(comm,
                          {.rows = integer(one, "rows"), .per_row = integer(one, "per_row"), .symmetric = false});
  }
  if (one.kind == "random_banded") {
    return random_banded(comm, {.rows = integer(one, "rows"),
                                .bandwidth = integer(one, "bandwidth"),
                                .density = number(one, "density", 1.0),
                                .symmetric = false});
  }
  require(one.kind == "file", one.where + ": " + one.kind + " is no kind of matrix");
  const auto name = one.options.find("name");
  require(name != one.options.end(), one.where + ": file needs name=...");
  return open_matrix_file(comm, matrices + "/" + name->second);
}

}  // namespace

std::vector<SpmmCase> read_spmm_cases(const std::string& path) {
  std::ifstream file(path);
  require(file.good(), "cannot read the case file " + path);
  std::vector<SpmmCase> cases;
  int number_of_line = 0;
  for (std::string line; std::getline(file, line);) {
    ++number_of_line;
    std::istringstream words(line.substr(0, line.find('#')));
    SpmmCase one;
    one.where = path + ":" + std::to_string(number_of_line);
    if (!(words >> one.group)) continue;
    require(static_cast<bool>(words >> one.name >> one.kind), one.where + ": needs group, name and kind");
    for (std::string option; words >> option;) {
      const std::size_t equals = option.find('=');
      require(equals != std::string::npos, one.where + ": " + option + " is not key=value");
      one.options[option.substr(0, equals)] = option.substr(equals + 1);
    }
    cases.push_back(one);
  }
  return cases;
}

CsrArrays<double> make_spmm_matrix(const Communicator& comm, const SpmmCase& one, const std::string& matrices) {
  if (one.kind == "dense") return dense(one);
  if (one.kind == "random_fill") return random_fill(one);
  const auto source = open_source(comm, one, matrices);
  CsrRows rows = source->read(Partition::uniform(source->rows(), 1));
  CsrArrays<double> a;
  a.columns = static_cast<LocalIndex>(rows.global_columns);
  a.row_offsets = std::move(rows.row_offsets);
  a.column_indices.assign(rows.columns.begin(), rows.columns.end());
  a.values = std::move(rows.values);
  return a;
}

}  // namespace block_eigs::bench
