#include "solver/lobpcg/davidson_outliers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// Columns of the Krylov space, and steps that say whether it is worth them.
constexpr LocalIndex most_columns = 96;
constexpr LocalIndex look_steps = 6;
constexpr LocalIndex most_outliers = 24;

/// Appends blocks of a Krylov space until the basis has `columns`: from random vectors, or from the last block of
/// the basis on.
template <class T>
void grow(Davidson<T>& it, DavidsonBasis<T>& basis, LocalIndex block, LocalIndex columns, bool anew) {
  BlockSpace<T>& space = it.run.problem.space;
  VectorPanel<T>& w = it.state.w;
  if (!anew && basis.cols < block) return;
  w.set_columns(block);
  if (anew) {
    space.fill_random(w.v(), it.run.options.seed + 700 + static_cast<std::uint64_t>(basis.cols));
  } else {
    it.run.problem.a.apply(basis.v().columns(basis.cols - block, block), w.v());
    it.products += block;
  }
  while (basis.cols + w.cols() <= columns && w.cols() > 0) {
    const LocalIndex count = append<T>(space, it.run.problem.a, basis, it.state.deflated.v(), w.v(), w.a());
    it.products += count;
    w.narrow(0, count);
    if (count > 0) space.copy(w.a(), w.v());
  }
}

/// About the length of what filters have to damp without the `count` last of these values: from where about as
/// many are before it as there are columns at work.
template <class T>
double length_without(const Davidson<T>& it, const std::vector<double>& values, LocalIndex count) {
  const std::size_t before = std::min(static_cast<std::size_t>(it.state.window.width), values.size() / 2);
  return values[values.size() - 1 - static_cast<std::size_t>(count)] - values[before];
}

/// W <- these Ritz vectors, their images, and the norms of their residuals.
template <class T>
std::vector<double> residuals_of(Davidson<T>& it, const DavidsonBasis<T>& basis, const DavidsonRitz& ritz,
                                 int first, LocalIndex count) {
  BlockSpace<T>& space = it.run.problem.space;
  VectorPanel<T>& w = it.state.w;
  w.set_columns(count);
  space.update({basis.v()}, ritz.columns(first, count), {w.v()});
  it.run.problem.a.apply(w.v(), w.a());
  it.products += count;
  std::vector<double> values(ritz.values.begin() + first, ritz.values.begin() + first + count);
  for (double& value : values) value *= it.sign;
  it.state.spare.set_columns(count);
  return space.residual(w.a(), w.v(), values, it.state.spare.view());
}

/// Whether the last third of the Ritz values takes up most of the spectrum, and the last one has come so near an
/// eigenvalue as it does in few steps only where that lies by itself, or others do beside it.
template <class T>
bool ends_by_themselves(Davidson<T>& it, const DavidsonBasis<T>& basis) {
  constexpr double most = 3.0;
  constexpr double near = 1e-3;
  if (basis.cols < 3) return false;
  const DavidsonRitz ritz = rayleigh_ritz(it.run.problem.space, basis, it.sign);
  const std::size_t count = ritz.values.size();
  const double first = ritz.values[count / 4];
  const double length = ritz.values.back() - first;
  if (!(length > most * (ritz.values[(2 * count - 1) / 3] - first))) return false;
  return residuals_of(it, basis, ritz, basis.cols - 1, 1).front() <= near * length;
}

/// Norms of the residuals of the last pairs, from the last one down, as far as these are eigenpairs to rounding
/// errors, and of the one before them.
template <class T>
std::vector<double> found_at_the_end(Davidson<T>& it, const DavidsonBasis<T>& basis, const DavidsonRitz& ritz) {
  constexpr double rounding = 100.0 * std::numeric_limits<T>::epsilon();
  const double norm = std::max(std::abs(ritz.values.front()), std::abs(ritz.values.back()));
  const LocalIndex most = std::min(most_outliers + 1, basis.cols / 2);
  std::vector<double> found;
  while (static_cast<LocalIndex>(found.size()) < most) {
    const auto before = static_cast<LocalIndex>(found.size());
    const LocalIndex count = std::min(most - before, static_cast<LocalIndex>(it.state.window.width));
    const std::vector<double> residuals = residuals_of(it, basis, ritz, basis.cols - before - count, count);
    for (LocalIndex j = count - 1; j >= 0; --j) {
      found.push_back(residuals[static_cast<std::size_t>(j)]);
      if (!(found.back() <= rounding * norm)) return found;
    }
  }
  return found;
}

/// How many of them to take out, and where the spectrum ends then.
struct Cut {
  LocalIndex count = 0;
  double upper = 0.0;
};

/// What takes the least time: degrees go like the root of the length, and in each of them as many vectors are read
/// twice and the block is moved three times, besides operations, which on processors take longer than that (0.25
/// as long as moving a number for each pair of a vector and a column).
template <class T>
Cut best_cut(const Davidson<T>& it, const DavidsonRitz& ritz, const std::vector<double>& residuals) {
  constexpr double operations = 0.25;
  constexpr double least_gain = 0.7;
  const double columns = std::min<double>(it.shape.block, it.state.window.width);
  const double of_matrix = it.run.problem.a.blocks_beside(1);
  const double of_degree = (std::isfinite(of_matrix) ? of_matrix : 20.0) + 4.0 * columns;
  Cut best{0, it.bounds.upper};
  double least = least_gain * of_degree * std::sqrt(length_without(it, ritz.values, 0));
  for (LocalIndex count = 1; count < static_cast<LocalIndex>(residuals.size()); ++count) {
    const auto next = ritz.values.size() - 1 - static_cast<std::size_t>(count);
    const double upper = ritz.values[next] + residuals[static_cast<std::size_t>(count)];
    const double more = 3.0 * columns + 2.0 * count + operations * columns * count;
    const double cost = (of_degree + more) * std::sqrt(length_without(it, ritz.values, count));
    if (cost < least) least = cost, best = {count, upper};
  }
  return best;
}

}  // namespace

template <class T>
void take_out_outliers(Davidson<T>& it, DavidsonBasis<T>& basis) {
  BlockSpace<T>& space = it.run.problem.space;
  const LocalIndex columns = std::min(basis.storage.cols(), most_columns);
  const LocalIndex block = std::min<LocalIndex>(columns < most_columns ? 2 : 4, it.state.window.width);
  const LocalIndex look = look_steps * block;
  DavidsonRitz ritz;
  Cut cut;
  if (columns > 2 * look) {
    grow(it, basis, block, look, true);
    // Beside so many columns at work the whole space takes no time.
    const bool at_once = columns <= 2 * it.state.window.width;
    if (at_once || ends_by_themselves(it, basis)) {
      // Other start vectors in the end: what is there more often than a block has columns would come back as
      // often.
      grow(it, basis, block, columns - look, false);
      grow(it, basis, block, columns, true);
      ritz = rayleigh_ritz(space, basis, it.sign);
      cut = best_cut(it, ritz, found_at_the_end(it, basis, ritz));
    }
  }
  if (cut.count > 0) {
    try {
      it.outliers = space.make_block(cut.count);
    } catch (const OnAllRanks&) {
      cut.count = 0;
    }
  }
  if (cut.count == 0) {
    basis.cols = 0;
    basis.projected = {};
    return;
  }
  it.bounds.upper = std::min(it.bounds.upper, cut.upper);
  const LocalIndex keep = std::min<LocalIndex>(it.shape.keep, basis.cols - cut.count);
  space.update({basis.v()}, ritz.columns(basis.cols - cut.count, cut.count), {it.outliers.view()});
  restart(space, basis, ritz, it.sign, keep);
}

template void take_out_outliers(Davidson<float>&, DavidsonBasis<float>&);
template void take_out_outliers(Davidson<double>&, DavidsonBasis<double>&);

}  // namespace block_eigs
