#pragma once

#include <fstream>
#include <string>

namespace block_eigs::bench {

/// What one case took. Seconds are medians.
struct BlockMeasurement {
  std::string name;
  std::string precision;
  int b = 0;
  double seconds = 0.0;
  double floor = 0.0;         ///< seconds that bytes and operations need at the given rates
  double peer_seconds = 0.0;  ///< 0 where there is no peer
  double difference = -1.0;   ///< from the host kernels, negative where it was not checked
  double tolerance = 0.0;

  bool wrong() const { return difference >= 0.0 && !(difference <= tolerance); }
};

/// Prints measurements as a table, and writes them to a CSV file where one is named.
class BlockReport {
 public:
  /// Throws RunError where the file cannot be written.
  explicit BlockReport(const std::string& csv_file);
  void add(const BlockMeasurement& measurement);
  /// Cases that were not what the host kernels say.
  int wrong() const { return wrong_; }

 private:
  std::ofstream csv_;
  int wrong_ = 0;
};

}  // namespace block_eigs::bench
