#pragma once

#include <algorithm>
#include <memory>

#include "apps/config/config.hpp"
#include "apps/input/block_input.hpp"
#include "apps/input/operators.hpp"
#include "apps/input/problem.hpp"
#include "apps/input/stopwatch.hpp"
#include "io/result/result_file.hpp"
#include "spmm/device/device.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// Bytes that the calling rank's part of a solve works with at its peak.
struct MemoryNeeds {
  double matrix = 0.0;   ///< A, B, the preconditioner and float copies: there already
  double vectors = 0.0;  ///< tall blocks, those of the preconditioner among them
  double held = 0.0;     ///< of the vectors, what is there already: right-hand sides, constraints, given vectors
  double halo = 0.0;     ///< messages of A and B; on a GPU in its memory and the host's
  double host = 0.0;     ///< always in host memory: small dense problems, and the vectors that PETSc works with
  double result = 0.0;   ///< of the vectors, what returns to the host from a GPU
  double work = 0.0;     ///< of the vectors, the work space of operators, which stays when a solve has ended
  /// What `vectors` become where pairs are looked for in another pencil, beside those found: seldom, and without
  /// memory for it the result is there all the same.
  double with_other_pencil = 0.0;
  /// Beside the vectors, and never refused: where filters or Lanczos iterations build a basis, and where steps of
  /// a solution wait. Without memory for it they do not.
  double optional = 0.0;
  double certificate = 0.0;  ///< in host memory after the solve: factors, and what they are made from
};

/// Of a dense solver for so many rows, on rank 0.
double dense_solver_bytes(double order, bool with_mass);

/// What the eigensolver needs, asked when `operators` are made and nothing has been applied yet: with b =
/// block_size columns, 8 b vectors of own rows (6 b where A X and A P are not carried along, 11 b with B), the
/// work space of the operators, room for constraints, pairs and guards (twice with B), the result, small dense
/// problems of order 3 b on rank 0, or of a Lanczos basis everywhere. `known` pairs join those found in the end.
/// Where it goes on from a checkpoint, b vectors on their way from there. Collective.
template <class T>
MemoryNeeds memory_needs(const Problem<T>& problem, const Operators<T>& operators, const EigensolverConfig& config,
                         const StartVectors<T>& start, int known = 0);

/// The same for the linear solver, right-hand sides and an initial guess in memory: these, the solution, 3 b
/// vectors of own rows (4 b with a preconditioner, + b with an initial guess, + b where there are more right-hand
/// sides than b = block_size), the work space of the operators, and residuals where iterations run in float; b
/// more where it `resumes`. Not collective.
template <class T>
MemoryNeeds memory_needs(const Problem<T>& problem, const Operators<T>& operators,
                         const LinearSolverConfig& config, int right_hand_sides, bool resumes = false);

/// What a process takes at present, in bytes.
struct MemoryInUse {
  double host = 0.0;
  double host_peak = 0.0;
  double device = 0.0;  ///< of its GPU by all who use that, CUDA's own context included; 0 on the host backend
  double device_peak = 0.0;  ///< the same with the most that this process has had; 0 where that is not known
};

/// From the device and /proc/self/status; zeros where there is no such file. Not collective.
MemoryInUse memory_in_use(const Device& device);

/// Peaks of the calling rank, in bytes.
struct MemoryEstimate {
  double host = 0.0;            ///< of the process; what reading took where that was more
  double device = 0.0;          ///< in use on its GPU; what set-up took where that was more; 0 on the host backend
  double host_to_come = 0.0;    ///< of it, what the solve has yet to take, without a certificate
  double device_to_come = 0.0;  ///< likewise
  double host_holes = 0.0;      ///< of host, what blocks that come and go may leave unused beside that
  MemoryNeeds needs;
};

/// What is in use now and what comes on top of it. Where ranks share a GPU, what the others will take is not seen.
MemoryEstimate estimate_memory(const MemoryNeeds& needs, const MemoryInUse& now, bool on_host);
MemoryEstimate estimate_memory(const MemoryNeeds& needs, const Device& device);

/// Keeps an eye on how much memory a run takes, beside what was predicted.
class MemoryWatch {
 public:
  MemoryWatch(std::shared_ptr<Device> device, const MemoryEstimate& predicted)
      : device_(std::move(device)), predicted_(predicted) {}

  /// Looks at the memory of a GPU, whenever a look costs less than a fiftieth of the time since the last one: what
  /// others take is known by that alone. Of own memory the device keeps the peak, of host memory the system. Not
  /// collective.
  void sample();
  /// What came to be known after the solve had begun: it may take more, for what was taken has been taken.
  void foresee(const MemoryEstimate& prediction) {
    predicted_.host = std::max(predicted_.host, prediction.host);
    predicted_.device = std::max(predicted_.device, prediction.device);
  }
  /// The most that sample() has seen; 0 on the host backend. Not collective.
  double device_peak() const { return device_peak_; }
  /// Peaks of the rank that took the most, and what was predicted. Collective.
  MemoryRecord record(const Communicator& comm) const;

 private:
  std::shared_ptr<Device> device_;
  MemoryEstimate predicted_;
  double device_peak_ = 0.0;
  Stopwatch watch_;
  double next_ = 0.0;  ///< on watch_
};

}  // namespace block_eigs
