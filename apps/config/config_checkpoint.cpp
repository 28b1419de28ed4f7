#include "apps/config/config_checkpoint.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace block_eigs {

namespace {

constexpr std::array<std::pair<std::string_view, double>, 4> units{
    {{"", 1.0}, {"s", 1.0}, {"min", 60.0}, {"h", 3600.0}}};

/// "10min", "90 s", "0.5h", "90": seconds.
std::optional<double> seconds_of(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !std::isfinite(number) || number < 0.0) return std::nullopt;
  while (*end == ' ') ++end;
  for (const auto& [name, seconds] : units) {
    if (name == end) return number * seconds;
  }
  return std::nullopt;
}

std::string text_of(double seconds) {
  const double minutes = seconds / 60.0;
  if (seconds > 0.0 && minutes == std::floor(minutes)) return fmt::format("{}min", minutes);
  return fmt::format("{}s", seconds);
}

}  // namespace

void describe(YamlSection& section, CheckpointConfig& config) {
  section.item("file", config.file);
  std::string every = text_of(config.every);
  section.item("every", every);
  const std::optional<double> seconds = seconds_of(every);
  section.check("every", seconds.has_value(), "needs a time such as 10min, 90s or 1h, found " + every);
  config.every = seconds.value_or(config.every);
  section.finish();
  section.check("", !config.file.empty(), "needs 'file'");
}

}  // namespace block_eigs
