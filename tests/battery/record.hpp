#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/battery/judge.hpp"

namespace block_eigs::test {

/// One try, judged: a line of the table of all.
struct Record {
  long index = 0;  ///< of the try in its run
  std::string family;
  std::uint64_t seed = 0;
  int rows = 0;
  int pairs = 0;      ///< or right-hand sides
  std::string which;  ///< end of the spectrum, or what the matrix of a system is
  std::string other;  ///< kind of mass, or of right-hand sides
  Verdict verdict{};
  int iterations = 0;
  double seconds = 0.0;
};

Record record_of(long index, const Try& one, const Verdict& verdict, int iterations, double seconds);

/// One line, words between tabs; reads back. Nothing where a line is none.
std::string to_line(const Record& record);
std::optional<Record> from_line(const std::string& line);

/// A table by family, then every try with a fault and the words that repeat it; `command` goes before them.
/// Returns the exit code of the battery: 1 where there is a fault, or where of all tries that were not refused
/// less than `at_least` are done.
int print_report(const std::vector<Record>& records, Mode mode, const std::string& command, double at_least);

/// All records, with a head line.
void write_csv(const std::string& path, const std::vector<Record>& records, Mode mode);

}  // namespace block_eigs::test
