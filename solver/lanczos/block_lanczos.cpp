#include "solver/lanczos/block_lanczos.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "solver/lanczos/lanczos_ritz.hpp"
#include "solver/lanczos/orthonormal_factor.hpp"
#include "solver/small/columns.hpp"
#include "solver/small/lapack.hpp"
#include "solver/space/orthonormalize.hpp"

namespace block_eigs {

namespace {

using Ritz = LanczosRitz;

template <class T>
class Lanczos {
 public:
  Lanczos(BlockSpace<T>& space, LinearOperator<T>& inverse, LinearOperator<T>* b, const DenseBlock<T>* constraints,
          const LanczosOptions& options)
      : space_(space),
        inverse_(inverse),
        b_(b),
        options_(options),
        shape_(lanczos_shape(options)),
        v_(space, shape_.capacity, b != nullptr),
        w_(space, widest(), b != nullptr),
        outside_(space, constraint_columns(constraints), b != nullptr) {
    space.comm().collectively([this] { projected_.resize(shape_.capacity, shape_.capacity); });
    inverse.reserve(widest());
    if (b != nullptr) b->reserve(std::max<LocalIndex>(widest(), constraint_columns(constraints)));
    if (constraints != nullptr) take(*constraints);
  }

  LanczosVectors<T> run(const LanczosLimit& limit, const LanczosObserver& observer);

 private:
  /// Vectors and their images under B, which without B are the same.
  struct Vectors {
    Vectors(BlockSpace<T>& space, LocalIndex capacity, bool apart)
        : storage(space.make_block(capacity)), images(space.make_block(apart ? capacity : 0)), are_apart(apart) {}

    DenseBlock<T> storage, images;
    bool are_apart;

    BlockView<T> v(LocalIndex first, LocalIndex count) { return storage.columns(first, count); }
    BlockView<T> b(LocalIndex first, LocalIndex count) {
      return are_apart ? images.columns(first, count) : storage.columns(first, count);
    }
  };

  static LocalIndex constraint_columns(const DenseBlock<T>* constraints) {
    return constraints != nullptr ? constraints->cols() : 0;
  }
  LocalIndex widest() const { return widest_block(shape_); }
  int locked_count() const { return static_cast<int>(locked_.values.size()); }
  int wanted() const { return options_.pairs - locked_count(); }

  void take(const DenseBlock<T>& constraints);
  void multiply_by_b(BlockView<T> x, BlockView<T> bx) {
    if (b_ != nullptr) b_->apply(x, bx);
  }
  void add_random(LocalIndex first, LocalIndex count);
  bool append(LocalIndex count);
  void multiply();
  Ritz rayleigh_ritz() const;
  bool is_due() const;
  bool tell(const Ritz& ritz, const LanczosLimit& limit, const LanczosObserver& observer);
  int complete_pairs(const Ritz& ritz, const LanczosLimit& limit) const;
  void restart(Ritz& ritz, int count);
  void lock(Ritz& ritz, int count);
  void widen(LocalIndex columns);
  bool go_on(LocalIndex fresh);
  LanczosVectors<T> result(const Ritz& ritz);

  BlockSpace<T>& space_;
  LinearOperator<T>& inverse_;
  LinearOperator<T>* b_;
  LanczosOptions options_;
  LanczosShape shape_;
  Vectors v_;                  ///< the basis
  Vectors w_;                  ///< what M has made of its last block, without what lies in it
  Vectors outside_;            ///< constraints, then locked vectors: it stays orthogonal to them
  LocalIndex out_ = 0;         ///< of these
  LocalIndex cols_ = 0;        ///< of the basis
  LocalIndex multiplied_ = 0;  ///< columns of the basis, the first ones, that M was applied to
  LocalIndex last_ = 0;        ///< of these, where the last block begins: M maps those before into the basis
  LocalIndex judged_ = 0;      ///< columns with which Ritz pairs were formed last
  SmallMatrix projected_;      ///< of the basis, as far as it is multiplied, in a matrix of its capacity
  SmallMatrix left_factor_;    ///< R
  LocalIndex left_ = 0;        ///< columns of W
  LanczosPairs locked_;        ///< without solves
  int random_ = 0;             ///< random vectors that it has begun with
  int solves_ = 0;
  int told_ = 0;  ///< of these, the observer
};

template <class T>
void Lanczos<T>::take(const DenseBlock<T>& constraints) {
  if (constraints.cols() == 0) return;
  const BlockView<T> c = outside_.v(0, constraints.cols());
  const BlockView<T> bc = outside_.b(0, constraints.cols());
  space_.copy(constraints.view(), c);
  multiply_by_b(c, bc);
  out_ = orthonormalize<T>(space_, {}, c, bc, {}, Orthonormality::to_rounding, b_);
}

/// Columns first .. of W become random ones.
template <class T>
void Lanczos<T>::add_random(LocalIndex first, LocalIndex count) {
  space_.fill_random(w_.v(first, count), options_.seed + static_cast<std::uint64_t>(random_));
  multiply_by_b(w_.v(first, count), w_.b(first, count));
  random_ += count;
}

/// The first columns of W, made orthonormal to the basis, as the next block. False where nothing is left of them.
template <class T>
bool Lanczos<T>::append(LocalIndex count) {
  count = orthonormalize<T>(space_, {outside_.v(0, out_), v_.v(0, cols_)}, w_.v(0, count), w_.b(0, count),
                            {outside_.b(0, out_), v_.b(0, cols_)}, Orthonormality::to_rounding, b_);
  count = std::min(count, shape_.capacity - cols_);
  space_.copy(w_.v(0, count), v_.v(cols_, count));
  if (b_ != nullptr) space_.copy(w_.b(0, count), v_.b(cols_, count));
  cols_ += count;
  return count > 0;
}

/// W R <- M times the last block, less what of it lies along this block, the one before and what a restart has
/// left: nothing lies along others. The projected operator of what is multiplied now.
template <class T>
void Lanczos<T>::multiply() {
  const LocalIndex width = cols_ - multiplied_;
  const LocalIndex beside = cols_ - last_;
  const BlockView<T> w = w_.v(0, width);
  const BlockView<T> bw = w_.b(0, width);
  inverse_.apply(v_.b(multiplied_, width), w);
  multiply_by_b(w, bw);
  solves_ += width;
  SmallMatrix products;
  space_.gram({v_.v(last_, beside)}, {bw}, products);
  SmallMatrix coefficients(beside + width, width);
  const LocalIndex before = multiplied_ - last_;
  for (int j = 0; j < width; ++j) {
    const int column = multiplied_ + j;
    for (int i = 0; i < before; ++i)
      projected_(last_ + i, column) = projected_(column, last_ + i) = products(i, j);
    for (int i = 0; i < width; ++i)
      projected_(multiplied_ + i, column) = 0.5 * (products(before + i, j) + products(before + j, i));
    for (int i = 0; i < beside; ++i) coefficients(i, j) = -products(i, j);
    coefficients(beside + j, j) = 1.0;
  }
  space_.update({v_.v(last_, beside), w}, coefficients, {w});
  if (b_ != nullptr) space_.update({v_.b(last_, beside), bw}, coefficients, {bw});
  left_ = orthonormal_factor<T>(space_, b_, w, bw, left_factor_);
  last_ = multiplied_;
  multiplied_ = cols_;
}

/// What M x is beside value x lies along W: of the part that x has in the last block.
template <class T>
Ritz Lanczos<T>::rayleigh_ritz() const {
  Ritz ritz;
  const int size = multiplied_;
  const int width = multiplied_ - last_;
  SmallMatrix numbers;
  space_.solve_small(
      [&] {
        ritz.vectors = leading_block(projected_, size, size);
        for (double& value : ritz.vectors.values()) value = -value;
        const std::vector<double> found = lapack::symmetric_eigen(ritz.vectors);
        numbers.resize(size, 2);
        SmallMatrix ends(width, size);
        for (int j = 0; j < size; ++j) std::copy_n(ritz.vectors.column(j) + last_, width, ends.column(j));
        const SmallMatrix outside = lapack::product(left_factor_, false, ends, false);
        for (int j = 0; j < size; ++j) {
          double square = 0.0;
          for (int i = 0; i < left_; ++i) square += outside(i, j) * outside(i, j);
          numbers(j, 0) = -found[static_cast<std::size_t>(j)];
          numbers(j, 1) = std::sqrt(square);
        }
      },
      {&ritz.vectors, &numbers});
  ritz.values.assign(numbers.column(0), numbers.column(0) + size);
  ritz.residuals.assign(numbers.column(1), numbers.column(1) + size);
  return ritz;
}

/// Whether Ritz pairs are worth forming: the wanted ones may be there, so many more columns than the last time;
/// before, twice as many, for what is to be locked.
template <class T>
bool Lanczos<T>::is_due() const {
  constexpr LocalIndex share = 8;
  if (multiplied_ <= wanted()) return multiplied_ >= std::max<LocalIndex>(2 * shape_.block, 2 * judged_);
  return multiplied_ - judged_ >= std::max<LocalIndex>(shape_.block, judged_ / share);
}

/// The basis becomes the leading Ritz vectors, which `ritz` tells of then.
template <class T>
void Lanczos<T>::restart(Ritz& ritz, int count) {
  const SmallMatrix coefficients = leading_columns(ritz.vectors, count);
  space_.update({v_.v(0, multiplied_)}, coefficients, {v_.v(0, count)});
  if (b_ != nullptr) space_.update({v_.b(0, multiplied_)}, coefficients, {v_.b(0, count)});
  projected_.resize(shape_.capacity, shape_.capacity);
  for (int j = 0; j < count; ++j) projected_(j, j) = ritz.values[static_cast<std::size_t>(j)];
  cols_ = multiplied_ = judged_ = count;
  last_ = 0;
  ritz.values.resize(static_cast<std::size_t>(count));
  ritz.residuals.resize(static_cast<std::size_t>(count));
  ritz.vectors = SmallMatrix::identity(count);
}

/// These pairs; the basis begins anew with W, for what it knows of the others holds rounding errors of the locked
/// ones.
template <class T>
void Lanczos<T>::lock(Ritz& ritz, int count) {
  const SmallMatrix coefficients = leading_columns(ritz.vectors, count);
  Vectors outside(space_, out_ + count, b_ != nullptr);
  space_.copy(outside_.v(0, out_), outside.v(0, out_));
  if (b_ != nullptr) space_.copy(outside_.b(0, out_), outside.b(0, out_));
  outside_ = std::move(outside);
  space_.update({v_.v(0, multiplied_)}, coefficients, {outside_.v(out_, count)});
  if (b_ != nullptr) space_.update({v_.b(0, multiplied_)}, coefficients, {outside_.b(out_, count)});
  for (int j = 0; j < count; ++j) {
    locked_.values.push_back(ritz.values[static_cast<std::size_t>(j)]);
    locked_.residuals.push_back(ritz.residuals[static_cast<std::size_t>(j)]);
  }
  out_ += count;
  cols_ = multiplied_ = last_ = judged_ = 0;
  projected_.resize(shape_.capacity, shape_.capacity);
  ritz = {};
}

/// Room for so many columns in W.
template <class T>
void Lanczos<T>::widen(LocalIndex columns) {
  if (columns <= w_.storage.cols()) return;
  Vectors wider(space_, columns, b_ != nullptr);
  space_.copy(w_.v(0, left_), wider.v(0, left_));
  if (b_ != nullptr) space_.copy(w_.b(0, left_), wider.b(0, left_));
  w_ = std::move(wider);
  inverse_.reserve(columns);
  if (b_ != nullptr) b_->reserve(columns);
}

/// The next block: what is left in W, and `fresh` random columns. False where nothing new is to be had, and
/// nothing is left in W.
template <class T>
bool Lanczos<T>::go_on(LocalIndex fresh) {
  widen(left_ + fresh);
  add_random(left_, fresh);
  if (append(left_ + fresh)) return true;
  left_ = 0;
  left_factor_ = SmallMatrix(0, multiplied_ - last_);
  add_random(0, shape_.block);
  return append(shape_.block);
}

/// With one more step of M, which is known: W is what it leaves beside the basis.
template <class T>
LanczosVectors<T> Lanczos<T>::result(const Ritz& ritz) {
  const int size = static_cast<int>(ritz.values.size());
  const int locked = locked_count();
  const int count = std::min(options_.columns - locked, size);
  LanczosVectors<T> found{space_.make_block(locked + count), locked_.values};
  if (locked > 0) space_.copy(outside_.v(out_ - locked, locked), found.vectors.columns(0, locked));
  SmallMatrix ends(size - last_, count);
  for (int j = 0; j < count; ++j) std::copy_n(ritz.vectors.column(j) + last_, size - last_, ends.column(j));
  const SmallMatrix outside = lapack::product(left_factor_, false, ends, false);
  SmallMatrix coefficients(size + left_, count);
  for (int j = 0; j < count; ++j) {
    const double value = ritz.values[static_cast<std::size_t>(j)];
    std::copy_n(ritz.vectors.column(j), size, coefficients.column(j));
    for (int i = 0; i < left_ && value > 0.0; ++i) coefficients(size + i, j) = outside(i, j) / value;
  }
  space_.update({v_.v(0, size), w_.v(0, left_)}, coefficients, {found.vectors.columns(locked, count)});
  found.values.insert(found.values.end(), ritz.values.begin(), ritz.values.begin() + count);
  return found;
}

template <class T>
bool Lanczos<T>::tell(const Ritz& ritz, const LanczosLimit& limit, const LanczosObserver& observer) {
  if (!observer) return true;
  LanczosPairs pairs = locked_;
  const auto room = static_cast<std::size_t>(options_.columns - locked_count());
  const auto more = static_cast<std::ptrdiff_t>(std::min(ritz.values.size(), room));
  pairs.values.insert(pairs.values.end(), ritz.values.begin(), ritz.values.begin() + more);
  pairs.residuals.insert(pairs.residuals.end(), ritz.residuals.begin(), ritz.residuals.begin() + more);
  pairs.complete = complete_pairs(ritz, limit);
  pairs.solves = solves_ - std::exchange(told_, solves_);
  return observer(pairs);
}

/// Wanted ones before any eigenvalue that may be there more often than random vectors have told.
template <class T>
int Lanczos<T>::complete_pairs(const Ritz& ritz, const LanczosLimit& limit) const {
  if (locked_count() >= random_) return 0;
  const int size = std::min(wanted(), static_cast<int>(ritz.values.size()));
  return locked_count() + values_before_cluster(ritz.values, size, random_, limit);
}

template <class T>
LanczosVectors<T> Lanczos<T>::run(const LanczosLimit& limit, const LanczosObserver& observer) {
  add_random(0, shape_.block);
  if (!append(shape_.block)) return {};
  constexpr int few = 3;
  int blocks = 0;  // multiplied
  int until = 0;   // of these, at least
  int soon = 0;    // likewise, where no pair looks like one that comes forward
  for (int steps = 0;;) {
    multiply();
    ++blocks;
    LocalIndex fresh = 0;
    const bool full = cols_ + left_ > shape_.capacity;
    const bool ended = space_.to_end_early();
    if (full || ended || is_due()) {
      Ritz ritz = rayleigh_ritz();
      judged_ = multiplied_;
      const bool last = ended || ++steps >= options_.most_steps || solves_ >= options_.most_solves;
      if (!tell(ritz, limit, observer) || last) return result(ritz);
      const int far = far_apart(ritz, wanted());
      if (far == 0 && blocks >= soon && (blocks >= until || have_settled(ritz, wanted(), limit)) &&
          multiplied_ + locked_count() >= options_.columns && are_done(ritz, wanted(), limit)) {
        const LocalIndex room = shape_.capacity - shape_.keep - left_;
        fresh = complete_pairs(ritz, limit) < options_.pairs ? std::min<LocalIndex>(random_, room) : 0;
        if (fresh == 0) return result(ritz);
        soon = blocks + few;
        until = std::max(blocks + blocks / 2, soon);
      }
      if (far > 0) {
        lock(ritz, far);
      } else if (cols_ + left_ + fresh > shape_.capacity) {
        restart(ritz, std::min(multiplied_, shape_.keep));
      }
      if (!go_on(fresh)) return result(ritz);
    } else if (!go_on(0)) {
      return result(rayleigh_ritz());  // of what is left without W
    }
  }
}

}  // namespace

template <class T>
LanczosVectors<T> block_lanczos(BlockSpace<T>& space, LinearOperator<T>& inverse, LinearOperator<T>* b,
                                const DenseBlock<T>* constraints, const LanczosOptions& options,
                                const LanczosLimit& limit, const LanczosObserver& observer) {
  const GlobalIndex kept_out = constraints != nullptr ? constraints->cols() : 0;
  if (!lanczos_fits(options, space.dimension() - kept_out)) return {};
  return Lanczos<T>(space, inverse, b, constraints, options).run(limit, observer);
}

template LanczosVectors<float> block_lanczos(BlockSpace<float>&, LinearOperator<float>&, LinearOperator<float>*,
                                             const DenseBlock<float>*, const LanczosOptions&, const LanczosLimit&,
                                             const LanczosObserver&);
template LanczosVectors<double> block_lanczos(BlockSpace<double>&, LinearOperator<double>&,
                                              LinearOperator<double>*, const DenseBlock<double>*,
                                              const LanczosOptions&, const LanczosLimit&, const LanczosObserver&);

}  // namespace block_eigs
