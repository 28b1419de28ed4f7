#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "apps/bench/bench_spmm_measure.hpp"

namespace block_eigs::bench {

/// Prints measurements as a table, and writes them to a CSV file where one is named; sums them up at the end.
class SpmmReport {
 public:
  /// Throws RunError where the file cannot be written.
  explicit SpmmReport(const std::string& csv_file);
  void add(const SpmmMeasurement& measurement);
  /// Geometric means of the ratios by group, the worst case, and how the rule compares with the oracle.
  void print_summary() const;
  /// Cases that were not what the host backend says.
  int wrong() const { return wrong_; }

 private:
  void print_ratios() const;
  void print_rule() const;

  std::ofstream csv_;
  std::vector<SpmmMeasurement> all_;
  int wrong_ = 0;
};

}  // namespace block_eigs::bench
