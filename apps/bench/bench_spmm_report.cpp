#include "apps/bench/bench_spmm_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "spmm/error.hpp"

namespace block_eigs::bench {

namespace {

struct Ratios {
  double logarithms = 0.0;
  double least = 1e300;
  std::string least_name;
  int count = 0;

  void add(double ratio, const std::string& name) {
    logarithms += std::log(ratio);
    ++count;
    if (ratio < least) {
      least = ratio;
      least_name = name;
    }
  }
  double geometric_mean() const { return std::exp(logarithms / count); }
};

std::string text_of(double value, const char* format) {
  return value > 0.0 ? fmt::format(fmt::runtime(format), value) : "-";
}

/// Whether the rule took the algorithm that was measured to be faster, or one as fast within the noise.
bool rule_is_right(const SpmmMeasurement& m, double noise) {
  const double taken = m.chosen == SpmmAlgorithm::merge ? m.merge : m.row_split;
  return taken <= m.oracle() * (1.0 + noise);
}

}  // namespace

SpmmReport::SpmmReport(const std::string& csv_file) {
  if (!csv_file.empty()) {
    csv_.open(csv_file);
    if (!csv_) throw RunError("cannot write " + csv_file);
    csv_
        << "group,matrix,precision,rows,columns,nonzeros,n,floor_us,row_split_us,merge_us,auto_us,chosen,setup_ms,"
           "fraction,peer_us,peer_algorithm,peer_over_auto,dense_us,difference\n";
  }
  fmt::print("{:16} {:6} {:>3} {:>9} {:>9} {:>9} {:>9} {:>9} {:>6} {:>9} {:>7} {:>6} {:>8}\n", "matrix", "type",
             "n", "floor us", "row-split", "merge", "auto", "setup ms", "frac", "peer us", "by", "ratio", "check");
}

void SpmmReport::add(const SpmmMeasurement& m) {
  const double ratio = m.peer / m.automatic;
  const double fraction = m.floor / m.automatic;
  fmt::print("{:16} {:6} {:>3} {:>9.1f} {:>9.1f} {:>9.1f} {:>9.1f} {:>9.1f} {:>6.2f} {:>9} {:>7} {:>6} {:>8}{}\n",
             m.name, m.precision, m.n, 1e6 * m.floor, 1e6 * m.row_split, 1e6 * m.merge, 1e6 * m.automatic,
             1e3 * m.setup, fraction, text_of(1e6 * m.peer, "{:.1f}"),
             m.peer_algorithm.empty() ? "-" : m.peer_algorithm, text_of(ratio, "{:.2f}"),
             m.difference < 0.0 ? "-" : fmt::format("{:.1e}", m.difference), m.wrong() ? "  WRONG" : "");
  if (m.dense_peer > 0.0) fmt::print("{:16} as a dense matrix, by cuBLAS: {:.1f} us\n", "", 1e6 * m.dense_peer);
  std::fflush(stdout);
  if (csv_.is_open()) {
    csv_ << fmt::format(
        "{},{},{},{},{},{},{},{:.2f},{:.2f},{:.2f},{:.2f},{},{:.3f},{:.4f},{:.2f},{},{:.4f},{:.2f},{:.3g}\n",
        m.group, m.name, m.precision, m.rows, m.columns, m.nonzeros, m.n, 1e6 * m.floor, 1e6 * m.row_split,
        1e6 * m.merge, 1e6 * m.automatic, name_of(m.chosen), 1e3 * m.setup, fraction, 1e6 * m.peer,
        m.peer_algorithm, ratio, 1e6 * m.dense_peer, m.difference);
    if (!csv_.flush()) throw RunError("cannot write the CSV file: is the disk full?");
  }
  if (m.wrong()) ++wrong_;
  all_.push_back(m);
}

void SpmmReport::print_ratios() const {
  std::vector<std::string> groups;
  for (const auto& m : all_) {
    if (std::find(groups.begin(), groups.end(), m.group) == groups.end()) groups.push_back(m.group);
  }
  groups.push_back("all");
  for (const std::string& group : groups) {
    Ratios ratios;
    for (const auto& m : all_) {
      if (m.peer == 0.0 || (group != "all" && m.group != group)) continue;
      ratios.add(m.peer / m.automatic, fmt::format("{} {} n = {}", m.name, m.precision, m.n));
    }
    if (ratios.count == 0) continue;
    fmt::print("{:12} {:>4} cases, cuSPARSE's best over auto: geometric mean {:.2f}, least {:.2f} ({})\n", group,
               ratios.count, ratios.geometric_mean(), ratios.least, ratios.least_name);
  }
}

void SpmmReport::print_rule() const {
  int right = 0, nearly = 0, judged = 0;
  double lost = 0.0;
  for (const auto& m : all_) {
    if (m.chosen == SpmmAlgorithm::automatic) continue;
    ++judged;
    right += rule_is_right(m, 0.0) ? 1 : 0;
    nearly += rule_is_right(m, 0.03) ? 1 : 0;
    lost += std::log((m.chosen == SpmmAlgorithm::merge ? m.merge : m.row_split) / m.oracle());
  }
  if (judged == 0) return;
  fmt::print(
      "rule: the faster algorithm in {} of {} cases ({:.1f}%), within 3% of it in {} ({:.1f}%); {:.2f}% slower "
      "than the "
      "oracle in the geometric mean\n",
      right, judged, 100.0 * right / judged, nearly, 100.0 * nearly / judged, 100.0 * std::expm1(lost / judged));
}

void SpmmReport::print_summary() const {
  print_ratios();
  print_rule();
}

}  // namespace block_eigs::bench
