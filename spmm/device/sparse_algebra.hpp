#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "spmm/device/buffer.hpp"
#include "spmm/device/csr_buffers.hpp"
#include "spmm/device/device.hpp"
#include "spmm/device/neighbourhood.hpp"
#include "spmm/scatter_bits.hpp"
#include "spmm/types.hpp"

namespace block_eigs {

/// Of two nodes that may not both be roots of aggregates, the one with the larger priority is: a one-to-one hash
/// of the global number.
constexpr std::int64_t aggregate_priority(GlobalIndex node) {
  return static_cast<std::int64_t>(scatter_bits(static_cast<std::uint64_t>(node) + golden_step));
}

/// The diagonal d of a square matrix, the sums s_i = sum_j |a_ij| of its rows, and what bounds its spectrum: see
/// DistributedMatrix, which has the same.
struct MatrixNumbers {
  Buffer<double> diagonal;  ///< zero where none is stored
  Buffer<double> raised;    ///< what Jacobi divides by; empty where that is the diagonal
  Buffer<double> row_sums;
  Buffer<double> damped;           ///< max(|d_i|, s_i / 2) with jacobi_diagonal() for d: what smoothers divide by
  double norm_inf = 0.0;           ///< max_i s_i
  double typical_row_sum = 0.0;    ///< 2^m, m the mean of the exponents of s_i > 0; norm_inf at most
  double scaled_gershgorin = 0.0;  ///< max_i s_i / |d_i|, with 1 for d_i = 0
  double jacobi_bound = 0.0;       ///< the same for jacobi_diagonal()
  double damped_bound = 0.0;       ///< the same for `damped`
  double interpolation_bound = 0.0;  ///< the same for max(|d_i|, s_i / 2)
  double largest_diagonal = 0.0;     ///< in magnitude
  double constant = 0.0;             ///< what all entries of `damped` are, where they are one number
  double jacobi_constant = 0.0;      ///< the same for jacobi_diagonal()

  const Buffer<double>& jacobi_diagonal() const { return raised.size() > 0 ? raised : diagonal; }
  std::size_t bytes() const {
    return (diagonal.size() + raised.size() + row_sums.size() + damped.size()) * sizeof(double);
  }
};

/// What tells strong couplings from weak ones: |A_ij|^2 > squared_threshold |A_ii| |A_jj|.
struct CouplingStrength {
  CsrBuffers<double> blocks;  ///< |A_ij|^2; empty where nodes are rows, whose entries are squared
  Buffer<double> norms;       ///< |A_ii| of own nodes, then of ghosts, with a minus sign (-0.0 too) for hubs
  double squared_threshold = 0.0;
};

/// Of a diagonal entry, what filtered() has to leave. Rows that add up to zero with weak couplings alone come to
/// rounding errors, of either sign, that depend on the order of columns.
inline constexpr double least_kept_of_diagonal = 1e-10;

/// Strong couplings of own nodes, without those to hubs: the values hold their strength.
struct CouplingGraph {
  CsrBuffers<double> neighbours;
  Buffer<LocalIndex> hub;  ///< of a hub itself, else the hub that a node is coupled to the most, -1 for none
  CouplingStrength strength;
  Offset weak = 0;  ///< couplings of own nodes that are neither strong nor zero; hubs have none
};

struct AggregateMap {
  LocalIndex count = 0;          ///< of own ones: an aggregate belongs to the rank of its root
  GlobalIndex first = 0;         ///< number over all ranks of the first own one
  Buffer<LocalIndex> of_node;    ///< own aggregates of own nodes, numbered from 0; -1 without strong couplings
                                 ///< (smoothing alone takes care of those), and for nodes that are away
  std::vector<LocalIndex> away;  ///< own nodes in aggregates of other ranks, ascending
  std::vector<GlobalIndex> away_aggregates;  ///< theirs, numbered over all ranks
};

/// A matrix in two parts: the columns of own rows, and all others, of rows that have entries there.
struct SplitColumns {
  CsrBuffers<double> own;
  CsrBuffers<double> others;
  Buffer<LocalIndex> rows;  ///< of `others`, ascending
};

/// Orthonormal factors of vectors, aggregate by aggregate: the vectors are `interpolation` times `coarse`.
struct TentativeInterpolation {
  CsrBuffers<double> interpolation;  ///< `modes` entries in the rows of an aggregate, none in others
  Buffer<double> coarse;             ///< row-major [aggregates * modes][modes]
};

/// Sparse matrices made of sparse matrices: what multigrid is set up with, beside Kernels, which it is applied
/// with. Everything is in the device's memory and in double, whatever a cycle will work in, so that all cycles
/// have the same levels. Both backends form every sum in the same order and round every operation by itself: the
/// same arguments give the same bits, from run to run, from backend to backend, and for any number of threads.
/// Ordered in Queue::compute; what returns a count or a number waits for it. Throws RunError where memory runs
/// out. Rows of the calling rank only: nothing here is collective but what is handed a Neighbourhood that has
/// other ranks.
class SparseAlgebra {
 public:
  SparseAlgebra() = default;
  SparseAlgebra(const SparseAlgebra&) = delete;
  SparseAlgebra& operator=(const SparseAlgebra&) = delete;
  virtual ~SparseAlgebra() = default;

  // ---- any matrices; views without row_map ----

  /// A B, entries that come to zero included; nothing where it would have more than `most_entries`.
  virtual std::optional<CsrBuffers<double>> product(const CsrView<double>& a, const CsrView<double>& b,
                                                    Offset most_entries = std::numeric_limits<Offset>::max()) = 0;
  /// R (A P), with the sums that the two products would have; nothing where it would have more than
  /// `most_entries`.
  virtual std::optional<CsrBuffers<double>> galerkin(const CsrView<double>& r, const CsrView<double>& a,
                                                     const CsrView<double>& p,
                                                     Offset most_entries = std::numeric_limits<Offset>::max()) = 0;
  /// Bytes that galerkin() may have for A P, in place of what is left of the device's memory: where that is less
  /// than A P takes, it comes in slabs of rows. For tests; backends without slabs ignore it.
  virtual void limit_galerkin(std::size_t bytes) { static_cast<void>(bytes); }
  /// A^T
  virtual CsrBuffers<double> transpose(const CsrView<double>& a) = 0;
  /// Entries that rows 0, stride, 2 stride, ... of R A P would have, all together. Of many rows that is a lot of
  /// work and memory.
  virtual Offset entries_of_triple(const CsrView<double>& r, const CsrView<double>& a, const CsrView<double>& p,
                                   LocalIndex stride) = 0;
  virtual Offset longest_row(const CsrView<double>& a) = 0;
  /// The rows of A, then those of B, which has as many columns.
  virtual CsrBuffers<double> stacked(const CsrView<double>& a, const CsrView<double>& b) = 0;
  /// A with row k of B, which has as many columns, added to its row rows[k]; `rows`, in device memory, are
  /// rows of A and do not descend. What is added to one row is added in its order.
  virtual CsrBuffers<double> with_added_rows(const CsrView<double>& a, const CsrView<double>& b,
                                             const LocalIndex* rows) = 0;
  /// A with `columns` columns: those from `own` on become places[0], places[1], ..., which ascend; the others
  /// stay.
  virtual CsrBuffers<double> with_columns(const CsrView<double>& a, LocalIndex own,
                                          const Buffer<LocalIndex>& places, LocalIndex columns) = 0;
  /// The first `own` columns, and the others numbered from 0. In rows, the first `below` of the others come before
  /// own ones, the rest after them, as numbers over all ranks ascend.
  virtual SplitColumns split_columns(const CsrView<double>& a, LocalIndex own, LocalIndex below = 0) = 0;
  /// A - shift I; diagonal entries that are not stored stay so.
  virtual CsrBuffers<double> shifted(const CsrView<double>& a, std::shared_ptr<const CsrPattern> pattern,
                                     double shift) = 0;
  virtual Buffer<float> to_float(const Buffer<double>& values) = 0;

  // ---- square ones, or a rank's rows of them, own columns first ----

  /// Numbers that are not a row's are those of all ranks.
  virtual MatrixNumbers numbers(const CsrView<double>& a, Neighbourhood& ranks) = 0;
  MatrixNumbers numbers(const CsrView<double>& a) {
    Neighbourhood alone;
    return numbers(a, alone);
  }
  /// 1 / |d_i|, and 1 for d_i = 0, kept away from overflow and underflow in T as inverse_diagonal() does.
  virtual Buffer<double> inverse_of(const Buffer<double>& diagonal, double smallest, double largest) = 0;
  /// Diagonal entries of at most `noise` in magnitude become zero, in rows of zeros alone `replacement`.
  virtual void settle_empty_rows(CsrBuffers<double>& a, double noise, double replacement) = 0;
  /// The inverse of A, all entries stored, made symmetric; nothing where A is not positive definite, or where
  /// 1 / |A^-1|_inf, which no eigenvalue is smaller than, is at most max(noise, relative_noise |A|_inf).
  virtual std::optional<CsrBuffers<double>> inverse(const CsrView<double>& a, double noise,
                                                    double relative_noise) = 0;

  // ---- aggregation ----

  /// Nodes i and j, of `unknowns` consecutive rows each, are strongly coupled where |A_ij| > threshold
  /// sqrt(|A_ii| |A_jj|) in the Frobenius norm (Vanek, Mandel, Brezina, Computing 56, 1996). Nodes with more than
  /// `hub_entries` entries a row are hubs.
  virtual CouplingGraph couplings(const CsrView<double>& a, int unknowns, double threshold, double hub_entries,
                                  Neighbourhood& ranks) = 0;
  CouplingGraph couplings(const CsrView<double>& a, int unknowns, double threshold, double hub_entries) {
    Neighbourhood alone;
    return couplings(a, unknowns, threshold, hub_entries, alone);
  }
  /// Around every root of the maximal independent set of distance two that descending aggregate_priority() gives
  /// (Bell, Dalton, Olson, SIAM J. Sci. Comput. 34, 2012; Kelley, Rajamanickam, arXiv:2204.02934), its neighbours;
  /// what is left joins the aggregate that it is coupled to the most in all. Hubs stay by themselves, but for
  /// nodes that are coupled to hubs alone. Numbered as roots and hubs are: the same for any number of ranks.
  virtual AggregateMap aggregate(const CouplingGraph& graph, Neighbourhood& ranks) = 0;
  AggregateMap aggregate(const CouplingGraph& graph) {
    Neighbourhood alone;
    return aggregate(graph, alone);
  }
  /// `vectors`: row-major [nodes * unknowns][modes]. A mode that depends on others within an aggregate gets a
  /// column of zeros.
  virtual TentativeInterpolation tentative(const AggregateMap& aggregates, int unknowns,
                                           const Buffer<double>& vectors, int modes) = 0;
  /// A with its weak couplings added up on the diagonal instead (Vanek, Mandel, Brezina, Computing 56, 1996):
  /// entry (k, l) of a weak block A_ij goes to entry (k, l) of A_ii, so that sums of rows stay. Rows whose
  /// diagonal entry would lose its sign stay as they are, and so do those with weak couplings alone, which are in
  /// no aggregate and interpolate from their neighbours', and those of hubs. `strength` is that of A's couplings.
  virtual CsrBuffers<double> filtered(const CsrView<double>& a, int unknowns,
                                      const CouplingStrength& strength) = 0;
  /// (I - omega D^-1 A) T, D being max(|d_i|, s_i / 2); T has the rows of ghosts too. Rows of hubs and rows of
  /// zeros stay as in T.
  virtual CsrBuffers<double> smoothed(const CsrView<double>& a, const MatrixNumbers& numbers,
                                      const CsrView<double>& t, const CouplingGraph& graph, double omega) = 0;
};

/// That of the device's backend. Throws InputError where this build lacks that backend.
std::shared_ptr<SparseAlgebra> make_sparse_algebra(std::shared_ptr<Device> device);

}  // namespace block_eigs
