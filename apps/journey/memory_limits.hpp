#pragma once

#include <string>

#include "apps/report/memory.hpp"
#include "spmm/device/device.hpp"
#include "spmm/parallel/context.hpp"

// What is needed beside what there is.
namespace block_eigs {

/// Bytes that may still be taken.
struct MemoryLeft {
  double node = 0.0;     ///< by all ranks of a node together: memory, and what control groups leave of it
  double process = 0.0;  ///< by the calling rank, of its address space (`ulimit -v`)
  double device = 0.0;   ///< of its GPU; infinity on the host backend
};

/// Of the calling rank. Not collective.
MemoryLeft memory_left(const Device& device);

/// Throws InputError on all ranks, with the figures and what would fit (fewer columns, more ranks, float), where a
/// solve has to take more than there is. Ranks of a node share its memory; those that share a GPU do not see each
/// other. As memory_needs; collective.
template <class T>
void require_memory(const Problem<T>& problem, const Operators<T>& operators, const EigensolverConfig& config,
                    const StartVectors<T>& start, int known);
template <class T>
void require_memory(const Problem<T>& problem, const Operators<T>& operators, const LinearSolverConfig& config,
                    int right_hand_sides, bool resumes);

/// Limits the work space of preconditioners, which then take a few columns at a time, where a solve needs more
/// memory than there is and makes do with that. What is to be said of it; empty where all is as it was. As
/// memory_needs; collective.
template <class T>
std::string fit_work_space(const Problem<T>& problem, Operators<T>& operators, const EigensolverConfig& config,
                           const StartVectors<T>& start, int known);
template <class T>
std::string fit_work_space(const Problem<T>& problem, Operators<T>& operators, const LinearSolverConfig& config,
                           int right_hand_sides, bool resumes);

/// As require_memory before anything is read, by the vectors of the solver alone, of a matrix of so many rows.
/// Collective.
template <class T>
void require_memory(const Context<T>& context, const EigensolverConfig& config, GlobalIndex rows);
template <class T>
void require_memory(const Context<T>& context, const LinearSolverConfig& config, GlobalIndex rows,
                    GlobalIndex right_hand_sides);

}  // namespace block_eigs
