#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "spmm/device/device.hpp"
#include "spmm/small_matrix.hpp"
#include "spmm/types.hpp"

namespace block_eigs {

/// Sparse rows where a Device can read them. Row i of A has the nonzeros row_offsets[i] ..
/// row_offsets[i + 1] - 1, columns ascending, no duplicates. With `row_map`, row i of A belongs to row
/// row_map[i] of the result (ascending): that is how the boundary rows of a rank are multiplied alone.
template <class T>
struct CsrView {
  LocalIndex rows = 0;
  LocalIndex columns = 0;
  Offset nonzeros = 0;
  const Offset* row_offsets = nullptr;
  const LocalIndex* column_indices = nullptr;
  const T* values = nullptr;
  const LocalIndex* row_map = nullptr;
};

/// Row-split and merge-based after Yang, Buluç, Owens (2018); `automatic` chooses by a fitted rule.
enum class SpmmAlgorithm { automatic, row_split, merge };
/// "auto", "row-split" or "merge"; throws InputError on other names.
SpmmAlgorithm spmm_algorithm_from_name(std::string_view name);
const char* name_of(SpmmAlgorithm algorithm);

struct SpmmOptions {
  SpmmAlgorithm algorithm = SpmmAlgorithm::automatic;
};

/// What a backend learns of one sparse matrix in advance (balanced row ranges, merge path, workspace).
class SpmmPlan {
 public:
  virtual ~SpmmPlan() = default;
  /// Makes room for products with up to `columns` columns, where the backend knows beforehand what they take.
  virtual void reserve(LocalIndex columns) { static_cast<void>(columns); }
};

/// Whether a product replaces its result or is added to it.
enum class Accumulate { no, yes };

/// What becomes of a product A X: Y = D (alpha A X + right_hand_side R) + beta X + gamma Y. Residuals,
/// relaxation and the steps of three-term recurrences are all of this form; done in the pass that makes A X, they
/// spare a block of memory traffic or more. Blocks whose factor is 0 are not read.
template <class T>
struct ProductStep {
  double alpha = 1.0;  ///< of A X
  double right_hand_side = 0.0;
  double beta = 0.0;   ///< of X; A is square then
  double gamma = 0.0;  ///< of Y as it was
  /// Where not empty, added to beta: a factor for each column of X. In host memory, read before the call returns.
  std::span<const double> betas;
  const T* scale = nullptr;  ///< the diagonal of D in device memory, a number a row; null: ones
  ConstBlockView<T> r;
  /// Where Kernels::sums_products(), and not null: left.cols x X.cols numbers, to which left^T (Y - gamma Y as it
  /// was) is added, own rows. Taken for symmetric, as X^T A X is: one half may be the other's copy.
  SmallMatrix* products = nullptr;
  ConstBlockView<T> left;  ///< as many rows as Y, as many columns as X

  /// Whether the rows of X are added to.
  bool adds_x() const { return beta != 0.0 || !betas.empty(); }

  /// Y = R - A X
  static ProductStep residual(ConstBlockView<T> r) {
    ProductStep step;
    step.alpha = -1.0;
    step.right_hand_side = 1.0;
    step.r = r;
    return step;
  }
};

/// Y = diag(d) X, in the pass in which rows of X come to be; nothing where d is null.
template <class T>
struct RowScaling {
  const T* d = nullptr;  ///< a number a row, in device memory
  ConstBlockView<T> x;
  BlockView<T> y;
};

/// Called now and then by a long-running host kernel from the calling thread, to move MPI along.
using Progress = std::function<void()>;

/// The instruction set that every backend implements, for T = float and double. All blocks are row-major
/// views of the device's memory with equal row counts. Kernels are ordered in Queue::compute (gather_rows
/// takes its queue) and return before they are done, except those that hand numbers to the host: they say
/// so. Small matrices and scalars live on the host, in double; sums over rows are accumulated in double
/// across threads or thread blocks. Outputs may replace inputs row by row: an output may use the memory of an
/// input with the same stride, shifted within the row or narrower; every row's inputs are read before its
/// outputs are written. Nothing here is collective: rows of the own rank only. Nothing allocates
/// after the first call with given shapes.
template <class T>
class Kernels {
 public:
  Kernels() = default;
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;
  virtual ~Kernels() = default;

  /// Work for a GPU that the next function that waits for its sums hands to it first: it would have nothing to do
  /// then. Calls functions without results. An empty one takes back what has not been called; the host never calls
  /// it.
  void meanwhile(std::function<void()> work) { meanwhile_ = std::move(work); }

  // ---- sparse ----

  /// What products with `a` need to know of its pattern; the values may change afterwards, the arrays stay where
  /// they are.
  virtual std::unique_ptr<SpmmPlan> analyse(const CsrView<T>& a, const SpmmOptions& options) = 0;
  /// C = A B and what `step` adds, X being B and Y being C. b.rows == a.columns; b and c must not overlap. Rows of
  /// C outside a.row_map stay. Deterministic: the same call gives the same bits.
  virtual void spmm(SpmmPlan& plan, const CsrView<T>& a, ConstBlockView<T> b, BlockView<T> c,
                    const ProductStep<T>& step, const Progress& progress) = 0;
  /// C = A B, or C += A B.
  void spmm(SpmmPlan& plan, const CsrView<T>& a, ConstBlockView<T> b, BlockView<T> c, Accumulate accumulate,
            const Progress& progress) {
    ProductStep<T> step;
    step.gamma = accumulate == Accumulate::yes ? 1.0 : 0.0;
    spmm(plan, a, b, c, step, progress);
  }
  /// Whether spmm takes step.products along: where it does not, gram is to be called for them.
  virtual bool sums_products() const { return false; }
  /// out row i = x row rows[i], i < out.rows; out.stride == out.cols makes a contiguous message.
  virtual void gather_rows(ConstBlockView<T> x, const LocalIndex* rows, BlockView<T> out, Queue queue) = 0;

  // ---- tall blocks with small matrices ----

  /// result = [left]^T [right]; resized to left.cols() x right.cols(). Waits for the result.
  virtual void gram(const ConstBlockList<T>& left, const ConstBlockList<T>& right, SmallMatrix& result) = 0;
  /// [out] = [in] coefficients, coefficients being in.cols() x out.cols(). Each input is read once for
  /// all outputs, and outputs may be among the inputs.
  virtual void update(const ConstBlockList<T>& in, const SmallMatrix& coefficients, const BlockList<T>& out) = 0;
  /// update, then `scaling`, then gram of what there is by then, in one pass where the backend can. Waits.
  virtual void update_gram(const ConstBlockList<T>& in, const SmallMatrix& coefficients, const BlockList<T>& out,
                           const RowScaling<T>& scaling, const ConstBlockList<T>& left,
                           const ConstBlockList<T>& right, SmallMatrix& result) {
    update(in, coefficients, out);
    if (scaling.d != nullptr) scale_rows(scaling.d, scaling.x, scaling.y);
    gram(left, right, result);
  }
  /// r = ax - bx diag(lambda), squared_norms[j] = sum_i r(i, j)^2, lambda and squared_norms having ax.cols
  /// entries. Waits for the norms.
  virtual void residual(ConstBlockView<T> ax, ConstBlockView<T> bx, std::span<const double> lambda, BlockView<T> r,
                        std::span<double> squared_norms) = 0;
  /// As update of [ax] by `in` and `coefficients`, then residual, in one pass where the backend can:
  /// [out] = [in] coefficients, r = (first r.cols columns of out[0]) - bx diag(lambda). Waits.
  virtual void update_residual(const ConstBlockList<T>& in, const SmallMatrix& coefficients,
                               const BlockList<T>& out, ConstBlockView<T> bx, std::span<const double> lambda,
                               BlockView<T> r, std::span<double> squared_norms) {
    update(in, coefficients, out);
    residual(ConstBlockView<T>(out[0]).columns(0, r.cols), bx, lambda, r, squared_norms);
  }

  // ---- element-wise and column-wise ----

  /// dots[j] = sum_i x(i, j) y(i, j). Waits.
  virtual void column_dots(ConstBlockView<T> x, ConstBlockView<T> y, std::span<double> dots) = 0;
  /// y(i, j) = d[i] x(i, j)
  virtual void scale_rows(const T* d, ConstBlockView<T> x, BlockView<T> y) = 0;
  /// y = alpha x + beta y; beta = 0 overwrites y whatever it held.
  virtual void axpby(double alpha, ConstBlockView<T> x, double beta, BlockView<T> y) = 0;
  /// y = d (step.alpha ax + step.right_hand_side r) + step.beta x + step.gamma y, where A X is known already.
  virtual void combine(const ProductStep<T>& step, ConstBlockView<T> ax, ConstBlockView<T> x, BlockView<T> y) = 0;
  /// y = x
  virtual void copy(ConstBlockView<T> x, BlockView<T> y) = 0;
  virtual void fill(BlockView<T> y, double value) = 0;
  /// y(i, j) = columns[i + j * leading], leading >= y.rows: the column-major blocks of other libraries.
  virtual void from_columns(const T* columns, std::int64_t leading, BlockView<T> y) = 0;
  /// columns[i + j * leading] = x(i, j), leading >= x.rows; what lies between the columns stays.
  virtual void to_columns(ConstBlockView<T> x, T* columns, std::int64_t leading) = 0;
  /// Uniform in [-1, 1), a function of (seed, first_row + i, j) alone, so that it does not depend on the
  /// number of ranks or the backend.
  virtual void fill_random(BlockView<T> y, std::uint64_t seed, GlobalIndex first_row) = 0;
  /// y(i, j) = scales[j] x(i, j), rounded to y's precision. An empty span scales by one.
  virtual void convert(ConstBlockView<T> x, std::span<const double> scales, BlockView<float> y) = 0;
  virtual void convert(ConstBlockView<T> x, std::span<const double> scales, BlockView<double> y) = 0;

 protected:
  /// Before a backend waits.
  void do_meanwhile() {
    if (meanwhile_) std::exchange(meanwhile_, nullptr)();
  }

 private:
  std::function<void()> meanwhile_;
};

/// The kernels of the device's backend. Throws InputError where this build lacks that backend.
template <class T>
std::shared_ptr<Kernels<T>> make_kernels(std::shared_ptr<Device> device);

}  // namespace block_eigs
