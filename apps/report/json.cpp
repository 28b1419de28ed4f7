#include "apps/report/json.hpp"

#include <cmath>

#include <fmt/format.h>

namespace block_eigs {

namespace {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (code < 0x20) {
      result += fmt::format("\\u{:04x}", code);
    } else {
      result += c;
    }
  }
  return result + "\"";
}

/// The shortest text that reads back as the same number.
std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : "null"; }

template <class Item, class Print>
std::string list(const std::vector<Item>& items, const Print& print) {
  std::string result;
  for (const Item& item : items) result += (result.empty() ? "" : ", ") + print(item);
  return "[" + result + "]";
}

}  // namespace

void JsonObject::member(std::string_view key, std::string_view value) {
  members_ += fmt::format("{}{}: {}", members_.empty() ? "" : ", ", quoted(key), value);
}

void JsonObject::add(std::string_view key, std::string_view text) { member(key, quoted(text)); }
void JsonObject::add(std::string_view key, std::int64_t value) { member(key, fmt::format("{}", value)); }
void JsonObject::add(std::string_view key, double value) { member(key, number(value)); }
void JsonObject::add(std::string_view key, const std::vector<double>& values) {
  member(key, list(values, number));
}
void JsonObject::add(std::string_view key, const std::vector<std::string>& texts) {
  member(key, list(texts, [](const std::string& text) { return quoted(text); }));
}

}  // namespace block_eigs
