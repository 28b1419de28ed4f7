#include "apps/bench/bench_block_report.hpp"

#include <fmt/core.h>

#include "spmm/error.hpp"

namespace block_eigs::bench {

BlockReport::BlockReport(const std::string& csv_file) {
  if (!csv_file.empty()) {
    csv_.open(csv_file);
    if (!csv_) throw RunError("cannot write " + csv_file);
    csv_ << "kernel,precision,b,seconds,floor_seconds,fraction,peer_seconds,peer_over_ours,difference\n";
  }
  fmt::print("{:19} {:9} {:>3} {:>10} {:>10} {:>8} {:>10} {:>10} {:>10}\n", "kernel", "precision", "b", "us",
             "floor us", "fraction", "cuBLAS us", "over ours", "difference");
}

void BlockReport::add(const BlockMeasurement& m) {
  const double fraction = m.floor / m.seconds;
  const bool peer = m.peer_seconds > 0.0;
  const double ratio = m.peer_seconds / m.seconds;
  fmt::print("{:19} {:9} {:>3} {:>10.1f} {:>10.1f} {:>8.2f} {:>10} {:>10} {:>10}{}\n", m.name, m.precision, m.b,
             1e6 * m.seconds, 1e6 * m.floor, fraction, peer ? fmt::format("{:.1f}", 1e6 * m.peer_seconds) : "-",
             peer ? fmt::format("{:.2f}", ratio) : "-",
             m.difference < 0.0 ? "-" : fmt::format("{:.1e}", m.difference), m.wrong() ? "  WRONG" : "");
  std::fflush(stdout);
  if (csv_.is_open()) {
    csv_ << fmt::format("{},{},{},{:.9g},{:.9g},{:.4f},{},{},{}\n", m.name, m.precision, m.b, m.seconds, m.floor,
                        fraction, peer ? fmt::format("{:.9g}", m.peer_seconds) : "",
                        peer ? fmt::format("{:.4f}", ratio) : "",
                        m.difference < 0.0 ? "" : fmt::format("{:.3g}", m.difference));
    if (!csv_.flush()) throw RunError("cannot write the CSV file: is the disk full?");
  }
  if (m.wrong()) ++wrong_;
}

}  // namespace block_eigs::bench
