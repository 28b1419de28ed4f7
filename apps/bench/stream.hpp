#pragma once

#include <cstddef>

namespace block_eigs::bench {

/// What this machine gives to the calling rank's threads, in bytes and operations a second.
struct MachineRates {
  double read_bandwidth = 0.0;   ///< summing one array
  double triad_bandwidth = 0.0;  ///< a = b + s c, three words moved an element (STREAM's count)
  double dgemm_rate = 0.0;       ///< the machine's BLAS, square double matrices

  /// The larger of the two: what floors are computed with.
  double bandwidth() const { return read_bandwidth > triad_bandwidth ? read_bandwidth : triad_bandwidth; }
};

/// Measures on arrays of `array_bytes` each, which must exceed the last-level cache; best of `repeats`. Takes
/// about a second. Not collective: start it on all ranks at once (after a barrier) to measure what each gets of a
/// shared memory bus.
MachineRates measure_machine(int threads, std::size_t array_bytes = std::size_t{256} << 20, int repeats = 7);

}  // namespace block_eigs::bench
