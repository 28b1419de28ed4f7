#include "io/formats/matrix_market_entries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace block_eigs {

namespace {

constexpr std::size_t shown = 60;

std::string_view line_around(std::string_view lines, const char* at) {
  const char* begin = at;
  while (begin > lines.data() && begin[-1] != '\n') --begin;
  const char* end = std::find(at, lines.data() + lines.size(), '\n');
  if (end > begin && end[-1] == '\r') --end;
  return {begin, std::min(static_cast<std::size_t>(end - begin), shown)};
}

/// Reads numbers off the lines one by one.
class Scanner {
 public:
  explicit Scanner(std::string_view lines) : lines_(lines), at_(lines.data()), end_(at_ + lines.size()) {}

  const char* at() const { return at_; }

  /// Moves on to the next line that holds something; false at the end.
  bool find_entry() {
    while (true) {
      skip_blanks();
      if (at_ == end_) return false;
      if (*at_ == '%') {
        skip_line();
      } else if (*at_ == '\n') {
        ++at_;
      } else {
        return true;
      }
    }
  }

  /// An index from 1 to `limit`, returned counted from 0.
  GlobalIndex index(GlobalIndex limit, const char* what) {
    skip_blanks();
    const char* begin = at_;
    std::uint64_t number = 0;
    for (; at_ != end_; ++at_) {
      const unsigned digit = static_cast<unsigned char>(*at_) - static_cast<unsigned>('0');
      if (digit > 9) break;
      number = number * 10 + digit;
    }
    if (at_ == begin || at_ - begin > 18 || !at_blank()) fail_index(begin, what);
    if (number < 1 || number > static_cast<std::uint64_t>(limit)) {
      throw EntryError(begin,
                       fmt::format("{} {} is out of range; {}s count from 1 to {}", what, number, what, limit));
    }
    return static_cast<GlobalIndex>(number) - 1;
  }

  double value() {
    skip_blanks();
    const char* begin = at_;
    if (end_ - at_ > 1 && *at_ == '+' && at_[1] != '-') ++at_;  // which from_chars does not take
    double number = 0.0;
    const auto [next, error] = std::from_chars(at_, end_, number);
    at_ = next;
    if (error != std::errc{} || !at_blank()) number = unusual_value(begin);
    if (!std::isfinite(number)) {
      throw EntryError(begin, fmt::format("the value '{}' is not finite in double precision", word(begin)));
    }
    return number;
  }

  /// Nothing but blanks may be left of the line.
  void end_entry() {
    skip_blanks();
    if (at_ == end_) return;
    if (*at_ != '\n') {
      throw EntryError(at_, fmt::format("'{}' stands after the entry '{}'", word(at_), line_around(lines_, at_)));
    }
    ++at_;
  }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  bool at_blank() const { return at_ == end_ || is_blank(*at_) || *at_ == '\n'; }
  void skip_blanks() {
    while (at_ != end_ && is_blank(*at_)) ++at_;
  }
  void skip_line() {
    const void* newline = std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_));
    at_ = newline == nullptr ? end_ : static_cast<const char*>(newline) + 1;
  }
  std::string_view whole_word(const char* begin) const {
    return {begin, std::find_if(begin, end_, [](char c) { return is_blank(c) || c == '\n'; })};
  }
  std::string_view word(const char* begin) const { return whole_word(begin).substr(0, shown); }

  [[noreturn]] void fail_index(const char* begin, const char* what) const {
    throw EntryError(std::min(begin, end_ - 1),
                     fmt::format("a {} number is needed, found '{}' in '{}'", what, word(begin),
                                 line_around(lines_, std::min(begin, end_ - 1))));
  }

  /// What std::from_chars does not take: Fortran's exponents (1.0D+03) and numbers beyond double's range, of which
  /// tiny ones are zero.
  double unusual_value(const char* begin) {
    std::string text(whole_word(begin));
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == 'D' || c == 'd'; }, 'e');
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    const bool is_hexadecimal = text.find_first_of("xX") != std::string::npos;
    if (text.empty() || is_hexadecimal || end != text.c_str() + text.size()) {
      throw EntryError(std::min(begin, end_ - 1), fmt::format("a value is needed, found '{}' in '{}'", word(begin),
                                                              line_around(lines_, std::min(begin, end_ - 1))));
    }
    at_ = begin + text.size();
    return number;
  }

  std::string_view lines_;
  const char* at_;
  const char* end_;
};

}  // namespace

void parse_coordinate_lines(std::string_view lines, const MatrixMarketHeader& header,
                            std::vector<Triplet>& triplets, EntryCounts& counts) {
  using Symmetry = MatrixMarketHeader::Symmetry;
  const bool has_values = header.field != MatrixMarketHeader::Field::pattern;
  const bool mirrored = header.symmetry != Symmetry::general;
  const bool skew = header.symmetry == Symmetry::skew_symmetric;
  Scanner scan(lines);
  while (scan.find_entry()) {
    const char* begin = scan.at();
    const GlobalIndex row = scan.index(header.rows, "row");
    const GlobalIndex column = scan.index(header.columns, "column");
    const double value = has_values ? scan.value() : 1.0;
    scan.end_entry();
    ++counts.entries;
    counts.below += row > column ? 1 : 0;
    counts.above += row < column ? 1 : 0;
    if (skew && row == column && value != 0.0) {
      throw EntryError(begin, "an entry on the diagonal, which is zero in a skew-symmetric matrix");
    }
    triplets.push_back({row, column, value});
    if (mirrored && row != column) triplets.push_back({column, row, skew ? -value : value});
  }
}

void parse_array_lines(std::string_view lines, std::vector<double>& values) {
  Scanner scan(lines);
  while (scan.find_entry()) {
    values.push_back(scan.value());
    scan.end_entry();
  }
}

}  // namespace block_eigs
