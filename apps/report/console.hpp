#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/config/config.hpp"
#include "apps/input/problem.hpp"
#include "apps/input/right_hand_sides.hpp"
#include "apps/journey/session.hpp"
#include "apps/report/memory.hpp"
#include "io/result/result_file.hpp"
#include "solver/report.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// What is about to be done, in a few lines on stdout, the last one being `task`. Collective; rank 0 prints.
template <class T>
void announce(const Problem<T>& problem, const Sources& sources, const RunConfig& config,
              const Arguments& arguments, const std::string& task);
std::string task(const EigensolverConfig& config);
std::string task(const LinearSolverConfig& config, const RightHandSides& sides);

/// The answer to --check: the resolved config and the memory of the rank that needs the most. Collective.
void print_check(const Communicator& comm, const RunConfig& config, const MemoryEstimate& memory);

/// The last words: where the result is, and on stderr which of `what` ("pairs"), with `outcomes`, have not
/// converged and why. Returns the exit code. Not collective; all ranks get the same code.
ExitCode conclude(const Communicator& comm, const RunConfig& config, const Arguments& arguments,
                  const RunRecord& run, const std::string& what, const std::vector<Outcome>& outcomes);

/// Keeps an eye on how much memory a run takes, beside what was predicted.
class MemoryWatch {
 public:
  MemoryWatch(std::shared_ptr<Device> device, const MemoryEstimate& predicted)
      : device_(std::move(device)), predicted_(predicted) {}

  /// Looks at the memory of a GPU now and then; host memory keeps its own record. Not collective.
  void sample();
  /// Collective; rank 0 prints the rank that took the most.
  void print(const Communicator& comm) const;

 private:
  std::shared_ptr<Device> device_;
  MemoryEstimate predicted_;
  double device_peak_ = 0.0;
  int calls_ = 0;
};

}  // namespace block_eigs
