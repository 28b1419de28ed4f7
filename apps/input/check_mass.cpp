#include "apps/input/check_mass.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "solver/small/lapack.hpp"
#include "solver/space/block_space.hpp"
#include "spmm/device/buffer.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

[[noreturn]] void refuse(const std::string& description, const std::string& why) {
  throw InputError(fmt::format("mass: {} is not positive definite: {}", description, why));
}

/// Square roots of diagonal entries, of the calling rank's rows and of the columns of others that these rows meet.
class DiagonalRoots {
 public:
  /// Collective; throws InputError where an entry is not positive.
  DiagonalRoots(const Communicator& comm, const Partition& partition, const CsrRows& rows,
                const std::string& description)
      : begin_(rows.row_begin) {
    comm.collectively([&] {
      take_own(rows, description);
      find_ghosts(rows);
    });
    fetch_ghosts(comm, partition);
  }

  double operator[](GlobalIndex row) const {
    const GlobalIndex local = row - begin_;
    if (local >= 0 && local < static_cast<GlobalIndex>(own_.size())) return own_[static_cast<std::size_t>(local)];
    const auto at = std::lower_bound(ghosts_.begin(), ghosts_.end(), row) - ghosts_.begin();
    return ghost_roots_[static_cast<std::size_t>(at)];
  }

 private:
  void take_own(const CsrRows& rows, const std::string& description) {
    own_.resize(static_cast<std::size_t>(rows.rows()));
    for (std::size_t i = 0; i < own_.size(); ++i) {
      const GlobalIndex row = begin_ + static_cast<GlobalIndex>(i);
      const auto first = rows.columns.begin() + rows.row_offsets[i];
      const auto last = rows.columns.begin() + rows.row_offsets[i + 1];
      const auto at = std::lower_bound(first, last, row);
      const bool stored = at != last && *at == row;
      const double value = stored ? rows.values[static_cast<std::size_t>(at - rows.columns.begin())] : 0.0;
      if (!(value > 0.0)) {
        refuse(description, fmt::format("the diagonal entry of row {} (counted from 0) is {}", row, value));
      }
      own_[i] = std::sqrt(value);
    }
  }

  void find_ghosts(const CsrRows& rows) {
    const GlobalIndex end = begin_ + static_cast<GlobalIndex>(own_.size());
    for (const GlobalIndex column : rows.columns) {
      if (column < begin_ || column >= end) ghosts_.push_back(column);
    }
    std::sort(ghosts_.begin(), ghosts_.end());
    ghosts_.erase(std::unique(ghosts_.begin(), ghosts_.end()), ghosts_.end());
  }

  /// Owners in rank order have the ghosts in ascending order.
  void fetch_ghosts(const Communicator& comm, const Partition& partition) {
    std::vector<std::vector<std::int64_t>> wanted(static_cast<std::size_t>(comm.size()));
    for (const GlobalIndex row : ghosts_) wanted[static_cast<std::size_t>(partition.owner(row))].push_back(row);
    const std::vector<std::vector<std::int64_t>> asked = comm.all_to_all(wanted);
    std::vector<std::vector<double>> answers(asked.size());
    for (std::size_t r = 0; r < asked.size(); ++r) {
      for (const std::int64_t row : asked[r]) answers[r].push_back(own_[static_cast<std::size_t>(row - begin_)]);
    }
    for (const std::vector<double>& part : comm.all_to_all(answers)) {
      ghost_roots_.insert(ghost_roots_.end(), part.begin(), part.end());
    }
  }

  GlobalIndex begin_;
  std::vector<double> own_;
  std::vector<GlobalIndex> ghosts_;
  std::vector<double> ghost_roots_;
};

/// What one pass over the entries finds.
struct EntrySums {
  double sum = 0.0;                                               ///< of all entries
  double size = 0.0;                                              ///< of their absolute values
  double diagonal = 0.0;                                          ///< of the diagonal
  GlobalIndex bad_row = std::numeric_limits<GlobalIndex>::max();  ///< the first with an entry as in too_large
};

/// Whether B restricted to two rows, with an entry of this size between them, is not positive definite.
bool too_large(double entry, double product_of_roots) {
  return std::abs(entry) >= product_of_roots * (1.0 - 4.0 * epsilon);
}

EntrySums sum_entries(const CsrRows& rows, const DiagonalRoots& roots) {
  EntrySums sums;
  double sum = 0.0;
  double size = 0.0;
  double diagonal = 0.0;
  GlobalIndex bad_row = sums.bad_row;
#pragma omp parallel for schedule(static) reduction(+ : sum, size, diagonal) reduction(min : bad_row)
  for (LocalIndex i = 0; i < rows.rows(); ++i) {
    const auto local = static_cast<std::size_t>(i);
    const GlobalIndex row = rows.row_begin + i;
    const double root = roots[row];
    diagonal += root * root;
    for (Offset k = rows.row_offsets[local]; k < rows.row_offsets[local + 1]; ++k) {
      const auto at = static_cast<std::size_t>(k);
      const double value = rows.values[at];
      sum += value;
      size += std::abs(value);
      const GlobalIndex column = rows.columns[at];
      if (column != row && too_large(value, root * roots[column])) bad_row = std::min(bad_row, row);
    }
  }
  return {sum, size, diagonal, bad_row};
}

/// Throws for the first such entry of the row.
void refuse_row(const CsrRows& rows, const DiagonalRoots& roots, GlobalIndex row, const std::string& description) {
  const auto local = static_cast<std::size_t>(row - rows.row_begin);
  for (Offset k = rows.row_offsets[local]; k < rows.row_offsets[local + 1]; ++k) {
    const GlobalIndex column = rows.columns[static_cast<std::size_t>(k)];
    const double value = rows.values[static_cast<std::size_t>(k)];
    const double limit = roots[row] * roots[column];
    if (column == row || !too_large(value, limit)) continue;
    refuse(description, fmt::format("the entry at ({}, {}) (counted from 0) is {}, which is not less in size than "
                                    "{}, the root of the product of the diagonal entries of these rows",
                                    row, column, value, limit));
  }
}

/// Throws where 1'B1 vanishes or is negative beyond rounding. Collective.
void check_sum(const Communicator& comm, EntrySums sums, const std::string& description) {
  sums.sum = comm.sum(sums.sum);
  sums.size = comm.sum(sums.size);
  sums.diagonal = comm.sum(sums.diagonal);
  const double noise = 8.0 * epsilon * sums.size;
  comm.collectively([&] {
    // Not finite where entries are near the end of the range: then nothing is said.
    if (!comm.is_root() || !std::isfinite(sums.size) || sums.size == 0.0 || sums.sum > noise) return;
    refuse(description,
           fmt::format("it is {}: x'Bx = {:.2g} x'Dx for the vector of ones x, D the diagonal of B",
                       sums.sum < -noise ? "indefinite" : "singular within rounding", sums.sum / sums.diagonal));
  });
}

/// Lanczos's three-term recurrence for D^-1 B in the inner product x'Dy, without normalisation:
/// u' = D^-1 B u - alpha u - (delta / delta_before) u_before, alpha = u'Bu / delta, delta = u'Du = u'B u_before.
template <class T>
class Lanczos {
 public:
  /// Collective.
  Lanczos(const Context<T>& context, DistributedMatrix<T>& b) : space_(context, b.row_partition()), b_(b) {
    for (DenseBlock<T>* block : {&before_, &u_, &image_}) *block = space_.make_block(1);
    Buffer<T> diagonal;
    space_.comm().collectively([&] {
      b_.reserve(1);
      std::vector<T> entries(b.diagonal().begin(), b.diagonal().end());
      inverse_ = Buffer<T>(context.device, entries.size());
      diagonal = Buffer<T>(context.device, entries.size());
      diagonal.upload(entries.data());
      for (T& entry : entries) entry = T{1} / entry;
      inverse_.upload(entries.data());
      constexpr std::uint64_t seed = 20;
      space_.fill_random(u_.view(), seed);
      kernels().fill(before_.view(), 0.0);
      kernels().scale_rows(diagonal.data(), u_.view(), image_.view());
    });
    delta_ = space_.column_dots(u_.view(), image_.view())[0];
  }

  /// Smallest Ritz value after `steps` steps; fewer where one is less than `certain`, or the space is used up: of
  /// the square of a vector's length a step leaves less than `used_up`, and rounding errors of that show.
  /// Collective.
  double run(int steps, double certain, double used_up) {
    double smallest = 1.0;
    double ratio = 0.0;  // of delta to the one before
    while (steps-- > 0) {
      b_.apply(u_.view(), image_.view());
      const double alpha = space_.column_dots(u_.view(), image_.view())[0] / delta_;
      diagonal_.push_back(alpha);
      smallest = lapack::tridiagonal_eigenvalues(diagonal_, off_diagonal_).front();
      if (smallest < certain) break;
      ProductStep<T> step;
      step.scale = inverse_.data();
      step.beta = -alpha;
      step.gamma = -ratio;
      kernels().combine(step, image_.view(), u_.view(), before_.view());
      std::swap(u_, before_);
      const double next = space_.column_dots(u_.view(), image_.view())[0];
      ratio = next / delta_;
      if (!(ratio > used_up) || !std::isfinite(next)) break;
      off_diagonal_.push_back(std::sqrt(ratio));
      delta_ = next;
    }
    return smallest;
  }

 private:
  Kernels<T>& kernels() { return *space_.context().kernels; }

  BlockSpace<T> space_;
  DistributedMatrix<T>& b_;
  Buffer<T> inverse_;
  DenseBlock<T> before_, u_, image_;
  double delta_ = 0.0;
  std::vector<double> diagonal_, off_diagonal_;
};

/// The largest entry over the smallest. Collective.
template <class T>
double ratio_of_diagonal(const Communicator& comm, const DistributedMatrix<T>& b) {
  double least = std::numeric_limits<double>::infinity();
  double most = 0.0;
  comm.collectively([&] {  // entries may have to come from a device
    for (const double entry : b.diagonal()) least = std::min(least, entry), most = std::max(most, entry);
  });
  return comm.max(most) / -comm.max(-least);
}

}  // namespace

void check_mass_entries(const Communicator& comm, const Partition& partition, const CsrRows& rows,
                        const std::string& description) {
  const DiagonalRoots roots(comm, partition, rows, description);
  const EntrySums sums = sum_entries(rows, roots);
  comm.collectively([&] {
    if (sums.bad_row < rows.global_rows) refuse_row(rows, roots, sums.bad_row, description);
  });
  check_sum(comm, sums, description);
}

template <class T>
MassSpread check_mass_spectrum(const Context<T>& context, DistributedMatrix<T>& b,
                               const std::string& description) {
  constexpr int steps = 6, steps_to_floor = 20;
  constexpr double used_up = 1e-3;
  // A pair of rows among ten million that is all that tells B from its diagonal leaves 2e-7.
  constexpr double used_up_to_floor = std::is_same_v<T, float> ? 1e-5 : 1e-9;
  const double bound = b.scaled_gershgorin_bound();
  MassSpread spread{2.0 - bound, ratio_of_diagonal(context.comm, b)};
  if (spread.floor >= soft_mass) return spread;  // S >= 2 - bound
  // Rounding errors of products and of the recurrence, with room to spare: what is found must be certain.
  const double certain = -1e3 * std::numeric_limits<T>::epsilon() * bound;
  const double smallest = Lanczos<T>(context, b).run(steps, certain, used_up);
  context.comm.collectively([&] {
    if (!context.comm.is_root() || !(smallest < certain)) return;
    refuse(description,
           fmt::format("x'Bx = {:.2g} x'Dx for a vector x that was found, D the diagonal of B", smallest));
  });
  // More steps are less certain, and a value that is not positive is as small as can be told.
  spread.floor =
      smallest < soft_mass
          ? smallest
          : Lanczos<T>(context, b).run(steps_to_floor, -std::numeric_limits<double>::infinity(), used_up_to_floor);
  spread.floor = std::max(spread.floor, 0.0);
  return spread;
}

template MassSpread check_mass_spectrum(const Context<float>&, DistributedMatrix<float>&, const std::string&);
template MassSpread check_mass_spectrum(const Context<double>&, DistributedMatrix<double>&, const std::string&);

}  // namespace block_eigs
