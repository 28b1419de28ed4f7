#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/generate/generate.hpp"
#include "io/generate/generate_rows.hpp"
#include "io/generate/rows_in_pieces.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

using Step = std::array<int, 3>;

struct Nodes {
  std::array<GlobalIndex, 3> size{};  // kept nodes in x, y, z
  GlobalIndex first_x = 0;            // 1 where the face x = 0 is left out
  GlobalIndex rows = 0;

  std::array<GlobalIndex, 3> place(GlobalIndex node) const {
    return {node % size[0], node / size[0] % size[1], node / size[0] / size[1]};
  }
};

Nodes nodes_of(const ElasticityOptions& options) {
  grid_rows("elasticity3d", options.size, 3, 24);
  Nodes nodes;
  nodes.first_x = options.clamped ? 1 : 0;
  nodes.size = {options.size[0] + 1 - nodes.first_x, options.size[1] + 1, options.size[2] + 1};
  nodes.rows = 3 * nodes.size[0] * nodes.size[1] * nodes.size[2];
  return nodes;
}

// Integral over the unit cube of (d/dx_i of corner a's shape function) (d/dx_j of corner b's): a product of
// one-dimensional integrals of the hats 1 - t and t, which are known exactly.
double derivative_product(const Step& a, std::size_t i, const Step& b, std::size_t j) {
  double product = 1.0;
  for (std::size_t d = 0; d < 3; ++d) {
    const double slope_a = a[d] == 1 ? 1.0 : -1.0;
    const double slope_b = b[d] == 1 ? 1.0 : -1.0;
    if (d == i && d == j) {
      product *= slope_a * slope_b;
    } else if (d == i) {
      product *= 0.5 * slope_a;
    } else if (d == j) {
      product *= 0.5 * slope_b;
    } else {
      product *= a[d] == b[d] ? 1.0 / 3.0 : 1.0 / 6.0;
    }
  }
  return product;
}

/// The 3 x 3 couplings of a node with its 27 neighbours (itself among them), for each of the 27 kinds of node:
/// in each direction on the low face, inside, or on the high face of the block.
class CouplingTable {
 public:
  explicit CouplingTable(const ElasticityOptions& options)
      : lambda_(options.young * options.poisson / ((1.0 + options.poisson) * (1.0 - 2.0 * options.poisson))),
        mu_(options.young / (2.0 * (1.0 + options.poisson))) {
    values_.resize(std::size_t{27} * 27 * 9);
    for (std::size_t kind = 0; kind < 27; ++kind) {
      for (std::size_t neighbour = 0; neighbour < 27; ++neighbour) fill(kind, neighbour);
    }
  }

  static Step step_of(std::size_t code) {
    const auto c = static_cast<int>(code);
    return {c % 3 - 1, c / 3 % 3 - 1, c / 9 - 1};
  }
  static std::size_t code_of(const Step& step) {
    const int code = step[0] + 1 + 3 * (step[1] + 1) + 9 * (step[2] + 1);
    return static_cast<std::size_t>(code);
  }
  const double* row(std::size_t kind, std::size_t neighbour, std::size_t component) const {
    return values_.data() + (kind * 27 + neighbour) * 9 + component * 3;
  }

 private:
  // Adds up the elements that both nodes touch, in an order that is the same from either node's side, so that
  // the matrix is symmetric to the last bit.
  void fill(std::size_t kind, std::size_t neighbour) {
    const Step face = step_of(kind);
    const Step step = step_of(neighbour);
    double* block = values_.data() + (kind * 27 + neighbour) * 9;
    for (std::size_t element = 0; element < 8; ++element) {
      const auto e = static_cast<int>(element);
      const Step low{e % 2 - 1, e / 2 % 2 - 1, e / 4 - 1};  // the element's low corner from the node
      Step a{}, b{};
      bool shared = true;
      for (std::size_t d = 0; d < 3; ++d) {
        a[d] = -low[d];
        b[d] = step[d] - low[d];
        const bool absent = (face[d] == -1 && low[d] == -1) || (face[d] == 1 && low[d] == 0);
        shared = shared && !absent && b[d] >= 0 && b[d] <= 1;
      }
      if (shared) add_element(a, b, block);
    }
  }

  // lambda div(u) div(v) + 2 mu eps(u) : eps(v), row (corner a, i), column (corner b, j).
  void add_element(const Step& a, const Step& b, double* block) const {
    double trace = 0.0;
    for (std::size_t d = 0; d < 3; ++d) trace += derivative_product(a, d, b, d);
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        double value = lambda_ * derivative_product(a, i, b, j) + mu_ * derivative_product(a, j, b, i);
        if (i == j) value += mu_ * trace;
        block[i * 3 + j] += value;
      }
    }
  }

  double lambda_;
  double mu_;
  std::vector<double> values_;
};

std::size_t kind_of(const Nodes& nodes, const std::array<GlobalIndex, 3>& place) {
  Step face{};
  for (std::size_t d = 0; d < 3; ++d) {
    const bool low = place[d] == 0 && (d != 0 || nodes.first_x == 0);
    face[d] = low ? -1 : place[d] == nodes.size[d] - 1 ? 1 : 0;
  }
  return CouplingTable::code_of(face);
}

// Numbers of the neighbours that are kept, with their place in the coupling table, ascending.
void neighbours_of(const Nodes& nodes, const std::array<GlobalIndex, 3>& place,
                   std::vector<std::pair<std::size_t, GlobalIndex>>& neighbours) {
  neighbours.clear();
  for (std::size_t code = 0; code < 27; ++code) {
    const Step step = CouplingTable::step_of(code);
    std::array<GlobalIndex, 3> at{};
    bool inside = true;
    for (std::size_t d = 0; d < 3; ++d) {
      at[d] = place[d] + step[d];
      inside = inside && at[d] >= 0 && at[d] < nodes.size[d];
    }
    if (inside) neighbours.emplace_back(code, at[0] + nodes.size[0] * (at[1] + nodes.size[1] * at[2]));
  }
}

void append_rows(const Nodes& nodes, const CouplingTable& table, GlobalIndex begin, GlobalIndex end,
                 CsrRows& out) {
  const auto rows = static_cast<std::size_t>(end - begin);
  out.row_offsets.reserve(rows + 1);
  out.columns.reserve(rows * 81);
  out.values.reserve(rows * 81);
  std::vector<std::pair<std::size_t, GlobalIndex>> neighbours;
  for (GlobalIndex row = begin; row < end; ++row) {
    const auto place = nodes.place(row / 3);
    const std::size_t kind = kind_of(nodes, place);
    if (row == begin || row % 3 == 0) neighbours_of(nodes, place, neighbours);
    for (const auto& [code, node] : neighbours) {
      const double* values = table.row(kind, code, static_cast<std::size_t>(row % 3));
      for (GlobalIndex component = 0; component < 3; ++component) {
        out.columns.push_back(3 * node + component);
        out.values.push_back(values[component]);
      }
    }
    out.row_offsets.push_back(static_cast<Offset>(out.columns.size()));
  }
}

}  // namespace

std::unique_ptr<MatrixSource> elasticity3d(const Communicator& comm, const ElasticityOptions& options) {
  const Nodes nodes = nodes_of(options);
  require(options.young > 0.0 && std::isfinite(options.young),
          fmt::format("elasticity3d: young is {}, it must be positive", options.young));
  require(options.poisson > -1.0 && options.poisson < 0.5,
          fmt::format("elasticity3d: poisson is {}, it must be above -1 and below 0.5", options.poisson));
  std::string text = fmt::format("elasticity3d {} elements, E {}, nu {}{}", shape_text(options.size),
                                 options.young, options.poisson, options.clamped ? "" : ", not clamped");
  return generated_matrix(
      comm, {nodes.rows, std::move(text)},
      [nodes, table = CouplingTable(options)](const Partition& partition, int rank, CsrRows& out) {
        set_rows_in_pieces(
            partition.begin(rank), partition.end(rank),
            [&](GlobalIndex begin, GlobalIndex end, CsrRows& piece) {
              append_rows(nodes, table, begin, end, piece);
            },
            out);
      });
}

std::vector<double> elasticity3d_coordinates(const ElasticityOptions& options, GlobalIndex row_begin,
                                             GlobalIndex row_end) {
  const Nodes nodes = nodes_of(options);
  require(row_begin >= 0 && row_begin <= row_end && row_end <= nodes.rows,
          fmt::format("elasticity3d: rows {} to {} of {}", row_begin, row_end, nodes.rows));
  std::vector<double> coordinates;
  coordinates.reserve(static_cast<std::size_t>(row_end - row_begin) * 3);
  for (GlobalIndex row = row_begin; row < row_end; ++row) {
    const auto [x, y, z] = nodes.place(row / 3);
    coordinates.push_back(static_cast<double>(x + nodes.first_x));
    coordinates.push_back(static_cast<double>(y));
    coordinates.push_back(static_cast<double>(z));
  }
  return coordinates;
}

std::vector<double> elasticity3d_rigid_body_modes(const ElasticityOptions& options, GlobalIndex row_begin,
                                                  GlobalIndex row_end) {
  const std::vector<double> coordinates = elasticity3d_coordinates(options, row_begin, row_end);
  std::vector<double> modes(coordinates.size() * 2, 0.0);
  for (std::size_t i = 0; i < coordinates.size() / 3; ++i) {
    std::array<double, 3> r{};
    for (std::size_t d = 0; d < 3; ++d) r[d] = coordinates[3 * i + d] - 0.5 * static_cast<double>(options.size[d]);
    // Rotation about axis k moves r to e_k x r; component c of it is what row i holds.
    const auto component = static_cast<std::size_t>((row_begin + static_cast<GlobalIndex>(i)) % 3);
    const std::size_t next = (component + 1) % 3;
    const std::size_t after = (component + 2) % 3;
    double* row = modes.data() + 6 * i;
    row[component] = 1.0;
    row[3 + next] = r[after];
    row[3 + after] = -r[next];
  }
  return modes;
}

}  // namespace block_eigs
