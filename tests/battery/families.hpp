#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/dense_matrix.hpp"
#include "tests/support/random_problem.hpp"

// Families of symmetric matrices that eigensolvers meet or stumble over, each a function of a seed.
namespace block_eigs::test {

/// A matrix of about `n` rows, symmetric to the last bit. Entries that are zero are no entries.
struct Family {
  const char* name;
  DenseMatrix (*make)(Random& random, int n);
};

std::vector<Family> graph_families();
std::vector<Family> spectral_families();
std::vector<Family> grid_families();
std::vector<Family> scaling_families();

/// All of them, in an order that stays.
const std::vector<Family>& families();
/// Its place in families(); throws InputError for a name that none has.
int family_index(const std::string& name);

/// Standard normal, by Box and Muller.
double normal(Random& random);
/// Q diag(values) Q^T with Q a product of random rotations in which every row meets every other.
DenseMatrix with_spectrum(Random& random, const std::vector<double>& values);
/// a(i, j) and a(j, i)
void set_both(DenseMatrix& a, int i, int j, double value);
/// Degrees minus adjacency, for an adjacency matrix with weights.
DenseMatrix laplacian_of(const DenseMatrix& adjacency);
/// Couplings of an nx x ny x nz grid of points, weight(random) each, as an adjacency matrix.
DenseMatrix grid_couplings(Random& random, int nx, int ny, int nz, double (*weight)(Random&));

/// How the mass matrix of a try is made.
enum class MassKind { none, diagonal, consistent, ill_conditioned, singular, indefinite };
/// Whether such a mass must be refused.
inline bool must_be_refused(MassKind kind) { return kind == MassKind::singular || kind == MassKind::indefinite; }
const char* name_of(MassKind kind);
/// n x n; positive definite but for the last two kinds, of condition up to 1e10 for kind ill_conditioned.
DenseMatrix make_mass(Random& random, MassKind kind, int n);

}  // namespace block_eigs::test
