#include "tests/battery/record.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "spmm/error.hpp"

namespace block_eigs::test {

namespace {

std::string one_line(std::string text) {
  for (char& letter : text) {
    if (letter == '\n' || letter == '\t' || letter == '"') letter = ' ';
  }
  return text;
}

Status status_of(const std::string& name) {
  for (int s = 0; s < status_count; ++s) {
    if (name == name_of(static_cast<Status>(s))) return static_cast<Status>(s);
  }
  return Status::crash;
}

/// What one line of the table adds up.
struct Sums {
  std::array<int, status_count> count{};
  std::vector<int> iterations;
  double seconds = 0.0;

  int of(Status status) const { return count[static_cast<std::size_t>(status)]; }
  int tries() const {
    int sum = 0;
    for (const int c : count) sum += c;
    return sum;
  }
  void add(const Record& record) {
    ++count[static_cast<std::size_t>(record.verdict.status)];
    iterations.push_back(record.iterations);
    seconds += record.seconds;
  }
  int median() {
    if (iterations.empty()) return 0;
    std::sort(iterations.begin(), iterations.end());
    return iterations[iterations.size() / 2];
  }
};

void print_line(const std::string& name, Sums sums) {
  const int others = sums.of(Status::crash) + sums.of(Status::hang);
  fmt::print("{:22}{:6}{:6}{:6}{:7}{:7}{:6}{:6}{:6}{:6}{:6}{:6}{:6}{:7}{:9.1f}\n", name, sums.tries(),
             sums.of(Status::ok), sums.of(Status::at_limit), sums.of(Status::refused),
             sums.of(Status::not_converged), sums.of(Status::exception), others,
             sums.of(Status::false_converged) + sums.of(Status::non_finite), sums.of(Status::wrong),
             sums.of(Status::missed), sums.of(Status::not_orthonormal), sums.of(Status::accepted), sums.median(),
             sums.seconds);
}

void print_tries(const std::vector<Record>& records, Mode mode, const std::string& command) {
  for (int s = 0; s < status_count; ++s) {
    const auto status = static_cast<Status>(s);
    if (!is_fault(status) && status != Status::not_converged) continue;
    bool first = true;
    for (const Record& record : records) {
      if (record.verdict.status != status) continue;
      if (first) fmt::print("\n{}:\n", name_of(status));
      first = false;
      fmt::print("  {} --{} --family {} --seed {}  # n {}, {} {}, {}, {} iterations: {}\n", command, name_of(mode),
                 record.family, record.seed, record.rows, record.pairs, record.which,
                 mode == Mode::systems ? record.other : "mass " + record.other, record.iterations,
                 record.verdict.detail);
    }
  }
}

}  // namespace

Record record_of(long index, const Try& one, const Verdict& verdict, int iterations, double seconds) {
  if (one.mode == Mode::systems) {
    return {index,          one.family, one.seed,   one.a.size, one.pairs, name_of(one.definiteness),
            one.sides.kind, verdict,    iterations, seconds};
  }
  return {index,
          one.family,
          one.seed,
          one.a.size,
          one.pairs,
          one.largest ? "largest" : "smallest",
          name_of(one.mass),
          verdict,
          iterations,
          seconds};
}

std::string to_line(const Record& record) {
  const Verdict& verdict = record.verdict;
  return fmt::format("done\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{:.4f}\t{:.3e}\t{:.3e}\t{:.3e}\t{}", record.index,
                     record.family, record.seed, record.rows, record.pairs, record.which, record.other,
                     name_of(verdict.status), record.iterations, record.seconds, verdict.residual,
                     verdict.value_error, verdict.orthogonality, one_line(verdict.detail));
}

std::optional<Record> from_line(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; std::getline(in, word, '\t');) words.push_back(word);
  if (words.size() < 14 || words[0] != "done") return std::nullopt;
  Record record;
  record.index = std::stol(words[1]);
  record.family = words[2];
  record.seed = std::stoull(words[3]);
  record.rows = std::stoi(words[4]);
  record.pairs = std::stoi(words[5]);
  record.which = words[6];
  record.other = words[7];
  record.iterations = std::stoi(words[9]);
  record.seconds = std::stod(words[10]);
  record.verdict = {status_of(words[8]), std::stod(words[11]), std::stod(words[12]), std::stod(words[13]),
                    words.size() > 14 ? words[14] : ""};
  return record;
}

int print_report(const std::vector<Record>& records, Mode mode, const std::string& command, double at_least) {
  std::map<std::string, Sums> by_family, by_kind;
  Sums all;
  for (const Record& record : records) {
    by_family[record.family].add(record);
    by_kind["  " + (mode == Mode::systems ? record.which : "mass " + record.other)].add(record);
    all.add(record);
  }
  fmt::print("{:22}{:>6}{:>6}{:>6}{:>7}{:>7}{:>6}{:>6}{:>6}{:>6}{:>6}{:>6}{:>6}{:>7}{:>9}\n", "family", "tries",
             "ok", "limit", "refused", "not", "error", "crash", "false", "wrong", "miss", "orth", "singB",
             "median", "seconds");
  for (const auto& [name, sums] : by_family) print_line(name, sums);
  print_line("all", all);
  for (const auto& [name, sums] : by_kind) print_line(name, sums);
  print_tries(records, mode, command);
  int faults = 0;
  for (const Record& record : records) faults += is_fault(record.verdict.status) ? 1 : 0;
  const int judged = all.tries() - all.of(Status::refused);
  const int done = all.of(Status::ok) + all.of(Status::at_limit);
  const double share = judged > 0 ? static_cast<double>(done) / judged : 1.0;
  fmt::print("\n{} tries, {} refused; of the others {} done ({:.2f}%), {} not converged, {} faults\n", all.tries(),
             all.of(Status::refused), done, 100.0 * share, all.of(Status::not_converged), faults);
  return faults > 0 || share < at_least ? 1 : 0;
}

void write_csv(const std::string& path, const std::vector<Record>& records, Mode mode) {
  std::ofstream out(path);
  out << "mode,family,seed,rows,pairs,which,other,status,iterations,seconds,residual,value,orthogonality,detail\n";
  for (const Record& record : records) {
    const Verdict& verdict = record.verdict;
    out << fmt::format("{},{},{},{},{},{},{},{},{},{:.4f},{:.3e},{:.3e},{:.3e},\"{}\"\n", name_of(mode),
                       record.family, record.seed, record.rows, record.pairs, record.which, record.other,
                       name_of(verdict.status), record.iterations, record.seconds, verdict.residual,
                       verdict.value_error, verdict.orthogonality, one_line(verdict.detail));
  }
  require(out.good(), path + ": cannot be written");
}

}  // namespace block_eigs::test
