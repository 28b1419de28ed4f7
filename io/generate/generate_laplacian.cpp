#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "io/generate/generate.hpp"
#include "io/generate/generate_grid.hpp"
#include "io/generate/generate_rows.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

// The options with every default in its place.
struct Laplacian {
  int dimensions = 0;
  GlobalIndex rows = 0;
  std::array<GlobalIndex, 3> size{1, 1, 1};
  std::array<double, 3> factor{0.0, 0.0, 0.0};  // no coupling in unused directions
  int points = 0;
  bool box = false;  // all neighbours of the box, not of the star alone
};

Laplacian resolve(const LaplacianOptions& options, int dimensions) {
  const std::string name = fmt::format("laplacian{}d", dimensions);
  Laplacian result;
  result.dimensions = dimensions;
  result.rows = grid_rows(name, options.size, dimensions);
  const int star = 2 * dimensions + 1;
  const int box = static_cast<int>(std::lround(std::pow(3, dimensions)));
  result.points = options.points == 0 ? star : options.points;
  require(result.points == star || result.points == box,
          fmt::format("{}: points is {}, it must be {}", name, options.points,
                      star == box ? fmt::format("{}", star) : fmt::format("{} or {}", star, box)));
  result.box = result.points == box && dimensions > 1;
  require(options.anisotropy.empty() || static_cast<int>(options.anisotropy.size()) == dimensions,
          fmt::format("{}: anisotropy has {} entries, it needs {}", name, options.anisotropy.size(), dimensions));
  for (std::size_t d = 0; d < options.size.size(); ++d) {
    result.size[d] = options.size[d];
    result.factor[d] = options.anisotropy.empty() ? 1.0 : options.anisotropy[d];
    require(result.factor[d] > 0.0 && std::isfinite(result.factor[d]),
            fmt::format("{}: anisotropy {} must be positive", name, result.factor[d]));
  }
  return result;
}

// Minus the product of the factors of the directions in which a neighbour differs, 0 where it takes no part.
double coupling(const Laplacian& laplacian, const std::array<int, 3>& step) {
  double product = 1.0;
  int moved = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    if (step[d] == 0) continue;
    product *= laplacian.factor[d];
    ++moved;
  }
  return moved == 1 || laplacian.box ? -product : 0.0;
}

GridOperator grid_operator(const Laplacian& laplacian) {
  GridOperator grid;
  grid.size = laplacian.size;
  double sum = 0.0;
  std::size_t centre = 0;
  for (int z = -1; z <= 1; ++z) {
    for (int y = -1; y <= 1; ++y) {
      for (int x = -1; x <= 1; ++x) {
        const std::array<int, 3> step{x, y, z};
        if (step == std::array<int, 3>{}) {
          centre = grid.points.size();
          grid.points.push_back({step, 0.0});
        } else if (const double value = coupling(laplacian, step); value != 0.0) {
          grid.points.push_back({step, value});
          sum += value;
        }
      }
    }
  }
  grid.points[centre].value = -sum;
  return grid;
}

std::unique_ptr<MatrixSource> laplacian(const Communicator& comm, const LaplacianOptions& options,
                                        int dimensions) {
  const Laplacian resolved = resolve(options, dimensions);
  std::string text =
      fmt::format("laplacian{}d {}, {} points", dimensions, shape_text(options.size), resolved.points);
  if (!options.anisotropy.empty()) text += fmt::format(", anisotropy {}", fmt::join(options.anisotropy, " : "));
  return generated_matrix(comm, {resolved.rows, std::move(text)},
                          [grid = grid_operator(resolved)](const Partition& partition, int rank, CsrRows& out) {
                            set_grid_rows(grid, partition.begin(rank), partition.end(rank), out);
                          });
}

// 2 a (1 - cos) of direction d, as 4 a sin^2: the smallest eigenvalues would lose half of their digits.
std::vector<double> direction_terms(const Laplacian& laplacian, std::size_t d) {
  const auto n = static_cast<double>(laplacian.size[d]);
  std::vector<double> terms(static_cast<std::size_t>(laplacian.size[d]));
  for (std::size_t k = 0; k < terms.size(); ++k) {
    const double sine = std::sin(0.5 * std::numbers::pi * static_cast<double>(k + 1) / (n + 1.0));
    terms[k] = 4.0 * laplacian.factor[d] * sine * sine;
  }
  return terms;
}

// From the three directions' terms: their sum for a star. For a box prod t_d - prod (t_d - term_d) with
// t_d = 1 + 2 a_d, multiplied out so that small terms are not cancelled away.
double eigenvalue(const Laplacian& laplacian, double x, double y, double z) {
  if (!laplacian.box) return x + y + z;
  const double tx = 1.0 + 2.0 * laplacian.factor[0];
  const double ty = 1.0 + 2.0 * laplacian.factor[1];
  const double tz = 1.0 + 2.0 * laplacian.factor[2];
  return x * ty * tz + (tx - x) * (y * tz + (ty - y) * z);
}

}  // namespace

std::unique_ptr<MatrixSource> laplacian1d(const Communicator& comm, const LaplacianOptions& options) {
  return laplacian(comm, options, 1);
}

std::unique_ptr<MatrixSource> laplacian2d(const Communicator& comm, const LaplacianOptions& options) {
  return laplacian(comm, options, 2);
}

std::unique_ptr<MatrixSource> laplacian3d(const Communicator& comm, const LaplacianOptions& options) {
  return laplacian(comm, options, 3);
}

std::vector<double> closed_form_laplacian_eigenvalues(const LaplacianOptions& options, GlobalIndex count) {
  const auto dimensions = static_cast<int>(options.size.size());
  require(dimensions >= 1 && dimensions <= 3,
          fmt::format("laplacian: size has {} entries, it needs 1, 2 or 3", dimensions));
  const Laplacian resolved = resolve(options, dimensions);
  require(count >= 0 && count <= resolved.rows,
          fmt::format("laplacian: {} eigenvalues of {} asked for", count, resolved.rows));
  const auto terms_x = direction_terms(resolved, 0);
  const auto terms_y = direction_terms(resolved, 1);
  const auto terms_z = direction_terms(resolved, 2);
  // A heap of the smallest so far, the largest of them on top.
  std::vector<double> smallest;
  const auto wanted = static_cast<std::size_t>(count);
  for (const double z : terms_z) {
    for (const double y : terms_y) {
      for (const double x : terms_x) {
        const double value = eigenvalue(resolved, x, y, z);
        if (smallest.size() == wanted) {
          if (wanted == 0 || value >= smallest.front()) continue;
          std::ranges::pop_heap(smallest);
          smallest.pop_back();
        }
        smallest.push_back(value);
        std::ranges::push_heap(smallest);
      }
    }
  }
  std::ranges::sort_heap(smallest);
  return smallest;
}

}  // namespace block_eigs
