#include "apps/choice/cost_model.hpp"

#include <algorithm>

namespace block_eigs {

namespace {

constexpr double index_bytes = 4.0;
/// Passes over blocks of the Gram matrices and updates of [X P W] and their images. Where R comes from a second
/// product it is up to a fifth less, which is left out: other ways are compared with what any matrix takes.
constexpr double passes = 20.0;
constexpr double passes_with_mass = 30.0;
/// The same of [Q Z S], their images and X in block CG, the product's own among them.
constexpr double passes_of_cg = 14.0;
/// Measured: the set-up takes as long as so many passes over A.
constexpr double setup_on_host = 130.0;
constexpr double setup_beside_gpu = 20000.0;
/// On the device itself, and what its launches and waits take at the least.
constexpr double setup_on_gpu = 320.0;
constexpr double least_setup_on_gpu = 4e10;
/// The same of several, which hand each other rows by way of host memory.
constexpr double setup_on_gpus = 5000.0;
constexpr double least_setup_on_gpus = 7e11;
/// A product and what goes with it: 12 microseconds. An iteration of block CG and a cycle are as many of them.
constexpr double launches_on_gpu = 5e7;
constexpr double launches_of_cg = 6.0;
constexpr double launches_of_cycle = 20.0;
/// A W-cycle in float, all levels together, in products with A in double: half their bytes, some six products on
/// the finest level, and the levels below once more in all.
constexpr double cycle_products = 6.0;
/// Measured: LAPACK takes as long for a few pairs of n rows as so many bytes times n^3.
constexpr double dense_bytes = 2.0;
/// The same of all pairs of the small pencils of LOBPCG, n^2 and n^3.
constexpr double small_bytes_of_square = 1e3;
constexpr double small_bytes_of_cube = 1.6;
/// How much longer a GPU waits for these, and for substitutions, than its memory takes for what passes through the
/// host's meanwhile.
constexpr double waiting_beside_gpu = 300.0;
/// Measured: so many vectors take as long to refine as all else of a dense solver.
constexpr double refined_per_solve = 3.0;
/// Columns from which operations take longer in Gram matrices and updates than passes over memory: there are some
/// 30 of them for each column and entry of a block, in its 20 passes of 8 bytes.
constexpr double wide_on_host = 16.0;
constexpr double wide_on_gpu = 40.0;
/// Measured on the host: bytes of a row of a block, found in caches, from which products with rows that are nearly
/// full take longer than these take to read.
constexpr double wide_beside_full_rows = 64.0;
/// Measured on the host, 5 to 39 nonzeros a row, 40 to 166 columns: 0.5 to 1.3 where blocks fit into caches.
constexpr double product_on_host = 0.8;
/// Measured, MUMPS on one core, in what passes through memory meanwhile. The analysis: so many passes over A (and
/// B), and so much for a row and each of its neighbours beyond those of a chain, those beyond a few, as rows in
/// space and random graphs have them, twice, up to some; the less, the fewer rows there are to dissect. A third to
/// four times as much was measured.
constexpr double analysis_passes = 33.0;
constexpr double bytes_of_neighbour = 2.4e4;
constexpr double neighbours_of_chain = 2.0;
constexpr double least_neighbours = 1.0;
constexpr double few_neighbours = 5.0;
constexpr double most_neighbours = 24.0;
constexpr double rows_to_dissect = 3e4;
/// A factorisation: so many passes, so much for a row and an operation.
constexpr double factor_passes = 33.0;
constexpr double bytes_of_pivot = 4e4;
constexpr double bytes_of_operation = 0.7;
/// A substitution: so much for a row, for one in each column, and for an entry of the factors in each.
constexpr double bytes_of_row = 1.2e4;
constexpr double bytes_of_unknown = 1e3;
constexpr double bytes_of_entry = 1.6;
constexpr double guesses = 2.0;
/// Measured: blocks, and columns for each pair, that Lanczos iterations have solved for, passes over the basis in
/// a step, which are arithmetic as much as memory, and small problems in those of the size of a full basis.
constexpr double least_blocks = 10.0;
constexpr double solves_of_pair = 4.0;
constexpr double passes_of_basis = 8.0;
constexpr double small_problems_of_lanczos = 6.0;
/// Measured on an H200: rows for a column of the block from which filters on a basis are faster than on the block.
constexpr double rows_of_a_column = 1.5e4;

}  // namespace

double CostModel::iteration() const {
  const double wide = std::max(1.0, columns / wide_from) * block;
  return product() + (mass > 0.0 ? mass + 2.0 * block + passes_with_mass * wide : passes * wide) +
         small_problem(std::min(3.0 * columns, rows));
}

/// On one rank while the others wait.
double CostModel::small_problem(double unknowns) const {
  return (small_bytes_of_square + small_bytes_of_cube * unknowns) * unknowns * unknowns * ranks * waiting;
}

CostModel CostModel::with_columns(double other) const {
  CostModel result = *this;
  result.block *= other / columns;
  result.columns = other;
  return result;
}

/// Over A, in a product.
double CostModel::pass() const { return full_from > 0.0 ? matrix * std::max(1.0, columns / full_from) : matrix; }

double CostModel::arithmetic() const { return full_from > 0.0 ? 0.0 : of_operation * nonzeros * columns; }

double CostModel::cg_iteration() const { return pass() + passes_of_cg * block + launches_of_cg * launches; }

double CostModel::preconditioner(const PreconditionerConfig& config) const {
  switch (config.type) {
    case PreconditionerType::jacobi:
      return 2.0 * block;
    case PreconditionerType::chebyshev:
      return (config.chebyshev.degree - 1) *
             ((config.of == PreconditionedMatrix::mass ? mass : pass()) + 3.0 * block + launches);
    case PreconditionerType::amg:
      return cycle_products * (pass() + 3.0 * block) + launches_of_cycle * launches;
    default:
      return 0.0;
  }
}

double CostModel::dense_with_refined(double vectors) const { return dense * (1.0 + vectors / refined_per_solve); }

double CostModel::setup(PreconditionerType type) const {
  return type == PreconditionerType::amg ? least_setup + setup_per_byte * matrix : 0.0;
}

/// Ranks share all but this.
double CostModel::analysis() const {
  if (rows == 0.0) return 0.0;
  const double beyond_chain = std::max(nonzeros / rows - neighbours_of_chain, least_neighbours);
  const double neighbours = std::min(std::max(beyond_chain, 2.0 * beyond_chain - few_neighbours), most_neighbours);
  const double ordering = bytes_of_neighbour * neighbours * rows * rows / (rows + rows_to_dissect);
  return ranks * host * (analysis_passes * (matrix + mass) + ordering);
}

double CostModel::factors(const factors::FactorSize& size) const {
  return host * (factor_passes * (matrix + mass) + bytes_of_pivot * rows + bytes_of_operation * size.flops);
}

double CostModel::factorisation(const factors::FactorSize& size) const { return guesses * factors(size); }

double CostModel::substitution(const factors::FactorSize& size, double applied_to) const {
  return waiting * (bytes_of_row * rows + (bytes_of_unknown * rows + bytes_of_entry * size.entries) * applied_to);
}

double CostModel::lanczos(const factors::FactorSize& size, const LanczosOptions& options) const {
  const LanczosShape shape = lanczos_shape(options);
  const double steps = least_blocks + solves_of_pair * options.pairs / shape.block;
  const double basis = passes_of_basis * 0.5 * (shape.keep + shape.capacity) / columns * block;
  const double checked = mass > 0.0 ? 2.0 * iteration() + substitution(size, columns) : iteration();
  const double windows = std::max(1.0, options.columns / columns);
  return steps * (substitution(size, shape.block) + mass + basis) +
         small_problems_of_lanczos * small_problem(shape.capacity) + windows * checked;
}

CostModel cost_model(const MatrixTraits& traits, double mass_nonzeros, int columns, double precision,
                     Backend backend, int ranks) {
  CostModel model;
  model.matrix = traits.nonzeros * (precision + index_bytes);
  model.mass = mass_nonzeros * (precision + index_bytes);
  model.block = traits.rows * columns * precision;
  const bool on_gpu = backend == Backend::cuda;
  if (on_gpu) {
    model.setup_per_byte = ranks == 1 ? setup_on_gpu : setup_on_gpus;
    model.least_setup = ranks == 1 ? least_setup_on_gpu : least_setup_on_gpus;
  } else {
    model.setup_per_byte = setup_on_host;
  }
  const double host_work = on_gpu ? setup_beside_gpu / setup_on_host : 1.0;
  if (on_gpu) model.launches = launches_on_gpu;
  if (!on_gpu) model.of_operation = product_on_host;
  if (on_gpu) model.waiting = waiting_beside_gpu;
  model.host = host_work;
  model.ranks = ranks;
  model.rows = traits.rows;
  model.nonzeros = std::max(traits.nonzeros, mass_nonzeros);
  model.columns = columns;
  if (!on_gpu && traits.nearly_full()) model.full_from = wide_beside_full_rows / precision;
  model.wide_from = on_gpu ? wide_on_gpu : wide_on_host;
  model.dense = dense_bytes * traits.rows * traits.rows * traits.rows * ranks * host_work;
  return model;
}

bool basis_pays(double rows, int columns) { return rows >= rows_of_a_column * columns; }

bool builds_basis(FilterKind filter, Backend backend, double rows, int columns) {
  return filter == FilterKind::basis ||
         (filter == FilterKind::automatic && backend == Backend::cuda && basis_pays(rows, columns));
}

}  // namespace block_eigs
