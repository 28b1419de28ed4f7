#include "apps/report/text.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

namespace block_eigs {

const char* version() { return BLOCK_EIGS_VERSION; }

std::string duration_text(double seconds) {
  if (seconds < 9.95) return fmt::format("{:.2f} s", seconds);
  if (seconds < 99.5) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string bytes_text(double bytes) {
  constexpr std::array units{"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < units.size()) {
    bytes /= 1000.0;
    ++unit;
  }
  return bytes < 9.95 && unit > 0 ? fmt::format("{:.1f} {}", bytes, units[unit])
                                  : fmt::format("{:.0f} {}", bytes, units[unit]);
}

std::string text_apart(double value, double distance) {
  constexpr double half = 0.5;
  constexpr int few = 10;
  constexpr int all = std::numeric_limits<double>::max_digits10;
  std::string text;
  for (int digits = few; digits <= all; ++digits) {
    text = fmt::format("{:.{}g}", value, digits);
    if (std::abs(std::strtod(text.c_str(), nullptr) - value) <= half * distance) break;
  }
  return text;
}

std::string count_text(std::int64_t count) {
  const std::string digits = std::to_string(count);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const bool group_begins = i > 0 && digits[i - 1] != '-' && (digits.size() - i) % 3 == 0;
    if (group_begins) text.push_back(',');
    text.push_back(digits[i]);
  }
  return text;
}

std::string ranges_text(const std::vector<bool>& chosen) {
  std::string text;
  for (std::size_t first = 0; first < chosen.size();) {
    if (!chosen[first]) {
      ++first;
      continue;
    }
    std::size_t last = first;
    while (last + 1 < chosen.size() && chosen[last + 1]) ++last;
    if (!text.empty()) text += ", ";
    text += first == last ? fmt::format("{}", first + 1) : fmt::format("{}-{}", first + 1, last + 1);
    first = last + 1;
  }
  return text;
}

}  // namespace block_eigs
