#include "io/formats/matrix_market_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <string_view>
#include <vector>

#include "spmm/error.hpp"

namespace block_eigs {

namespace {

constexpr std::string_view banner = "%%MatrixMarket";
constexpr std::string_view blanks = " \t\r";
/// A longer header is none.
constexpr std::size_t max_header = std::size_t{64} << 20;

bool is_comment_or_blank(std::string_view line) {
  const auto first = line.find_first_not_of(blanks);
  return first == std::string_view::npos || line[first] == '%';
}

std::vector<std::string> words(std::string_view line) {
  std::vector<std::string> found;
  while (true) {
    const auto begin = line.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return found;
    const auto end = std::min(line.find_first_of(blanks, begin), line.size());
    found.emplace_back(line.substr(begin, end - begin));
    line.remove_prefix(end);
  }
}

std::string lower(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word;
}

void parse_banner(std::string_view line, MatrixMarketHeader& header, const std::string& path) {
  auto said = words(line);
  std::transform(said.begin(), said.end(), said.begin(), lower);
  const auto fail = [&](const std::string& why) {
    throw InputError(fmt::format(
        "{}, line 1: {}; the line must read like '%%MatrixMarket matrix coordinate real symmetric'", path, why));
  };
  if (said.size() != 5) fail(fmt::format("has {} words instead of 5", said.size()));
  if (said[1] != "matrix") fail(fmt::format("'{}' is not supported", said[1]));

  using Header = MatrixMarketHeader;
  if (said[2] != "coordinate" && said[2] != "array")
    fail(fmt::format("format '{}' is unknown (coordinate, array)", said[2]));
  header.format = said[2] == "array" ? Header::Format::array : Header::Format::coordinate;

  if (said[3] == "complex") fail("the values are complex; real, integer or pattern are needed");
  const bool is_integer = said[3] == "integer" || said[3] == "unsigned-integer";
  if (said[3] != "real" && said[3] != "double" && said[3] != "pattern" && !is_integer) {
    fail(fmt::format("field '{}' is unknown (real, integer, pattern)", said[3]));
  }
  header.field = is_integer             ? Header::Field::integer
                 : said[3] == "pattern" ? Header::Field::pattern
                                        : Header::Field::real;

  if (said[4] == "hermitian") fail("symmetry 'hermitian' is for complex values; real ones are 'symmetric'");
  if (said[4] != "general" && said[4] != "symmetric" && said[4] != "skew-symmetric") {
    fail(fmt::format("symmetry '{}' is unknown (general, symmetric, skew-symmetric)", said[4]));
  }
  header.symmetry = said[4] == "general"     ? Header::Symmetry::general
                    : said[4] == "symmetric" ? Header::Symmetry::symmetric
                                             : Header::Symmetry::skew_symmetric;
  const bool is_pattern = header.field == Header::Field::pattern;
  if (is_pattern && header.symmetry == Header::Symmetry::skew_symmetric)
    fail("a pattern cannot be skew-symmetric");
  if (is_pattern && header.format == Header::Format::array) fail("an array cannot be a pattern");
}

void parse_sizes(std::string_view line, MatrixMarketHeader& header, const std::string& path) {
  const bool is_array = header.format == MatrixMarketHeader::Format::array;
  const auto said = words(line);
  const auto fail = [&](const std::string& why) {
    throw InputError(fmt::format("{}, line {}: {}; '{}' is needed", path, header.size_line, why,
                                 is_array ? "rows columns" : "rows columns entries"));
  };
  std::vector<std::int64_t> numbers;
  for (const std::string& word : said) {
    std::int64_t number = -1;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc{} || end != word.data() + word.size() || number < 0)
      fail(fmt::format("'{}' is no size", word));
    numbers.push_back(number);
  }
  if (numbers.size() != (is_array ? 2U : 3U)) fail(fmt::format("has {} numbers", numbers.size()));
  header.rows = numbers[0];
  header.columns = numbers[1];
  if (header.symmetry != MatrixMarketHeader::Symmetry::general && header.rows != header.columns) {
    fail(fmt::format("a symmetric matrix cannot have {} rows and {} columns", header.rows, header.columns));
  }
  if (is_array && header.symmetry != MatrixMarketHeader::Symmetry::general) {
    throw InputError(
        fmt::format("{}, line 1: a symmetric array is not supported; write it as 'array real general'", path));
  }
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (is_array && header.rows > 0 && header.columns > most / header.rows) fail("is impossibly large");
  header.entries = is_array ? header.rows * header.columns : numbers[2];
}

}  // namespace

std::string read_matrix_market_header(ByteStream& stream) {
  std::string text;
  std::size_t line_begin = 0;
  for (bool at_end = false; !at_end;) {
    const std::size_t old_size = text.size();
    text.resize(old_size + 65536);
    const std::size_t got = stream.read(text.data() + old_size, 65536);
    text.resize(old_size + got);
    at_end = got < 65536;
    if (old_size == 0 && lower(text.substr(0, banner.size())) != lower(std::string(banner))) {
      throw InputError(
          fmt::format("{}: is no Matrix Market file: it does not start with '{}'", stream.path(), banner));
    }
    while (true) {
      const auto newline = text.find('\n', line_begin);
      if (newline == std::string::npos && !at_end) break;
      const auto line_end = std::min(newline, text.size());
      if (!is_comment_or_blank(std::string_view(text).substr(line_begin, line_end - line_begin))) {
        text.resize(std::min(line_end + 1, text.size()));
        return text;
      }
      if (newline == std::string::npos) break;
      line_begin = newline + 1;
    }
    require(text.size() < max_header,
            fmt::format("{}: has no line with sizes in its first {} bytes", stream.path(), max_header));
  }
  throw InputError(fmt::format("{}: ends before the line with its sizes ('rows columns entries')", stream.path()));
}

MatrixMarketHeader parse_matrix_market_header(const std::string& text, const std::string& path) {
  MatrixMarketHeader header;
  header.body_offset = static_cast<std::int64_t>(text.size());
  std::string_view rest = text;
  parse_banner(rest.substr(0, rest.find('\n')), header, path);
  std::string_view line;
  do {
    const auto newline = rest.find('\n');
    line = rest.substr(0, newline);
    rest.remove_prefix(newline == std::string_view::npos ? rest.size() : newline + 1);
    ++header.size_line;
  } while (is_comment_or_blank(line) && !rest.empty());
  parse_sizes(line, header, path);
  return header;
}

}  // namespace block_eigs
