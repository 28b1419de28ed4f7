#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/source/matrix_source.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// Matrices made by rule, for tests, benches and first steps. Every rank makes the rows that it is asked for,
/// and the matrix does not depend on the number of ranks: random numbers are functions of (seed, place).
/// The functions throw InputError, on all ranks, that names the option, its value and what would be right.
///
/// Grids number their points with x fastest: point (x, y, z) is x + nx (y + ny z).

/// Minus the Laplacian on a grid of `size` interior points, unit spacing, zero (Dirichlet) values outside.
/// A neighbour's entry is minus the product of the `anisotropy` factors of the directions in which it
/// differs; the diagonal makes interior row sums zero. With factors of one: 2, -1 (3 points); 4, -1 (5);
/// 8, -1 (9); 6, -1 (7); 26, -1 (27).
struct LaplacianOptions {
  std::vector<GlobalIndex> size{};   ///< points in x, (y, (z))
  int points = 0;                    ///< 3 in 1d; 5 or 9 in 2d; 7 or 27 in 3d; 0 takes the smaller
  std::vector<double> anisotropy{};  ///< positive factor of each direction; empty: ones
};

std::unique_ptr<MatrixSource> laplacian1d(const Communicator& comm, const LaplacianOptions& options);
std::unique_ptr<MatrixSource> laplacian2d(const Communicator& comm, const LaplacianOptions& options);
std::unique_ptr<MatrixSource> laplacian3d(const Communicator& comm, const LaplacianOptions& options);

/// The `count` smallest eigenvalues of the Laplacian that `options` describe (1d, 2d or 3d by its size), with
/// their multiplicities, ascending. With c_d = cos(pi k_d / (n_d + 1)), k_d = 1 .. n_d, and factors a_d:
/// sum_d 2 a_d (1 - c_d) for 3, 5 and 7 points, prod_d (1 + 2 a_d) - prod_d (1 + 2 a_d c_d) for 9 and 27.
/// Takes time proportional to the number of rows.
std::vector<double> closed_form_laplacian_eigenvalues(const LaplacianOptions& options, GlobalIndex count);

/// Linear elasticity, isotropic, of a block of `size` unit cubes (Q1 hexahedra, trilinear displacements, exact
/// integration). The face x = 0 is clamped: its nodes are left out, which makes the matrix positive definite.
/// Nodes in the order of grids above, unknown 3 node + component: 3 ex (ey + 1) (ez + 1) rows.
struct ElasticityOptions {
  std::vector<GlobalIndex> size{};  ///< elements in x, y, z
  double young = 1.0;               ///< E > 0
  double poisson = 0.3;             ///< -1 < nu < 1/2
  bool clamped = true;              ///< false keeps the nodes of the face x = 0: six zero eigenvalues
};

std::unique_ptr<MatrixSource> elasticity3d(const Communicator& comm, const ElasticityOptions& options);

/// Coordinates of the nodes that unknowns row_begin .. row_end - 1 belong to, row-major [rows][3]: three equal
/// rows a node. Not collective.
std::vector<double> elasticity3d_coordinates(const ElasticityOptions& options, GlobalIndex row_begin,
                                             GlobalIndex row_end);
/// The rigid-body modes at those unknowns, row-major [rows][6]: translations along x, y, z, then rotations
/// about the x, y, z axes through the middle of the block. Not normalised. Not collective.
std::vector<double> elasticity3d_rigid_body_modes(const ElasticityOptions& options, GlobalIndex row_begin,
                                                  GlobalIndex row_end);

/// -1/2 Laplacian + 1/2 sum_d omega_d^2 x_d^2: harmonic well, 7 points, zero values outside the grid. The
/// coordinate of point i of n is (i - (n - 1) / 2) spacing. The continuum has sum_d omega_d (k_d + 1/2).
struct SchroedingerOptions {
  std::vector<GlobalIndex> size{};           ///< points in x, y, z
  double spacing = 0.25;                     ///< h > 0
  std::vector<double> omega{1.0, 1.0, 1.0};  ///< frequencies of the well in x, y, z
};

std::unique_ptr<MatrixSource> schroedinger3d(const Communicator& comm, const SchroedingerOptions& options);

/// R-MAT graph (Chakrabarti, Zhan, Faloutsos, SDM 2004): edge_factor 2^scale edges fall into the quadrants of
/// the 2^scale x 2^scale adjacency matrix with `probabilities`, level by level. Loops are left out, repeated
/// edges count once, all entries are 1.
struct RmatOptions {
  int scale = 10;                                               ///< 2^scale vertices, 1 .. 40
  int edge_factor = 16;                                         ///< drawn edges a vertex
  std::array<double, 4> probabilities{0.57, 0.19, 0.19, 0.05};  ///< a, b, c, d; sum 1
  std::uint64_t seed = 1;
  bool symmetric = true;  ///< every edge in both directions
};

/// Adjacency matrix.
std::unique_ptr<MatrixSource> rmat(const Communicator& comm, const RmatOptions& options);
/// Degrees minus adjacency of the symmetric graph; a diagonal entry in every row, 0 for isolated vertices.
std::unique_ptr<MatrixSource> graph_laplacian(const Communicator& comm, const RmatOptions& options);

/// `per_row` distinct columns, uniform over the row, values uniform in [-1, 1). Symmetric: B + B^T where B has
/// half of `per_row` (rounded up) in a row, so that rows have about `per_row`.
struct RandomUniformOptions {
  GlobalIndex rows = 0;
  GlobalIndex per_row = 10;  ///< 0 .. rows
  std::uint64_t seed = 1;
  bool symmetric = true;
};

std::unique_ptr<MatrixSource> random_uniform(const Communicator& comm, const RandomUniformOptions& options);

/// Entries (i, j), |i - j| <= bandwidth, each there with probability `density`, values uniform in [-1, 1).
struct RandomBandedOptions {
  GlobalIndex rows = 0;
  GlobalIndex bandwidth = 10;
  double density = 1.0;  ///< 0 .. 1
  std::uint64_t seed = 1;
  bool symmetric = true;
};

std::unique_ptr<MatrixSource> random_banded(const Communicator& comm, const RandomBandedOptions& options);

/// random_uniform, symmetric, its diagonal replaced by shift + sum_j |a_ij|: no eigenvalue is below `shift`.
struct RandomSpdOptions {
  GlobalIndex rows = 0;
  GlobalIndex per_row = 10;
  double shift = 1.0;  ///< > 0
  std::uint64_t seed = 1;
};

std::unique_ptr<MatrixSource> random_spd(const Communicator& comm, const RandomSpdOptions& options);

}  // namespace block_eigs
