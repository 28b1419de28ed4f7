#include "io/config/yaml_section.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

#include <fmt/format.h>

#include "io/config/nearest_name.hpp"
#include "io/config/yaml_document.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

std::string join(const std::vector<std::string>& parts) { return fmt::format("{}", fmt::join(parts, ".")); }

/// Plain scalar that a number can be read from.
bool is_plain(const YAML::Node& node) { return node.IsScalar() && node.Tag() != "!"; }

template <class Number>
bool parse_number(const YAML::Node& node, Number& value) {
  if (!is_plain(node)) return false;
  const std::string& text = node.Scalar();
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const char* end = text.data() + text.size();
  Number number{};
  const auto [stop, error] = std::from_chars(begin, end, number);
  if (error != std::errc{} || stop != end || begin == end) return false;
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(number)) return false;
  }
  value = number;
  return true;
}

bool parse_bool(const YAML::Node& node, bool& value) {
  if (!is_plain(node)) return false;
  const std::string& text = node.Scalar();
  value = text == "true" || text == "True" || text == "TRUE";
  return value || text == "false" || text == "False" || text == "FALSE";
}

/// As YAML that reads back as this very text.
std::string quoted(const std::string& text) {
  constexpr std::string_view harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
  const bool plain = !text.empty() && text.find_first_not_of(harmless) == std::string::npos && text != "null" &&
                     text != "Null" && text != "NULL" && !text.starts_with('-');
  if (plain) return text;
  YAML::Emitter emitter;
  emitter << YAML::DoubleQuoted << text;
  return emitter.c_str();
}

}  // namespace

struct YamlSection::State {
  std::shared_ptr<const YamlDocument> document;  // null when writing
  YAML::Node node;                               // of the map; null where it is absent
  YAML::Mark mark = YAML::Mark::null_mark();
  std::vector<std::string> path;
  std::vector<std::string> known;
  std::shared_ptr<std::string> text;  // null when reading

  /// "run.yaml:7: eigensolver.pairs"
  std::string label(std::string_view key) const {
    std::vector<std::string> full = path;
    YAML::Mark where = mark;
    if (!key.empty()) {
      full.emplace_back(key);
      for (const auto& entry : node) {
        if (node.IsMap() && entry.first.Scalar() == key) where = entry.first.Mark();
      }
    }
    const std::string place = document->place_of(full, where);
    return full.empty() ? place : fmt::format("{}: {}", place, join(full));
  }

  YAML::Node value(std::string_view key) {
    known.emplace_back(key);
    if (!node.IsMap()) return YAML::Node(YAML::NodeType::Undefined);
    return std::as_const(node)[std::string(key)];
  }

  void write(std::string_view key, std::string_view value) {
    text->append(2 * path.size(), ' ');
    text->append(fmt::format("{}:{}{}\n", key, value.empty() ? "" : " ", value));
  }

  /// Reads or writes one value with `parse_value` (false: wrong type) and `print`.
  template <class Value, class Parse, class Print>
  void item(std::string_view key, Value& result, const char* expected, Parse parse_value, Print print) {
    if (text) {
      write(key, print(result));
      return;
    }
    const YAML::Node given = value(key);
    if (!given.IsDefined()) return;
    if (!parse_value(given, result)) {
      throw InputError(fmt::format("{}: expected {}, found {}", label(key), expected, words_for(given)));
    }
  }

  template <class Number>
  void number(std::string_view key, Number& result, const char* expected) {
    item(key, result, expected, parse_number<Number>, [](Number number) { return fmt::format("{}", number); });
  }

  template <class Number>
  void list(std::string_view key, std::vector<Number>& result, const char* expected) {
    if (text && result.empty()) return;
    const auto read = [](const YAML::Node& given, std::vector<Number>& into) {
      if (!given.IsSequence()) return false;
      into.assign(given.size(), Number{});
      for (std::size_t i = 0; i < into.size(); ++i) {
        if (!parse_number(given[i], into[i])) return false;
      }
      return true;
    };
    item(key, result, expected, read,
         [](const std::vector<Number>& numbers) { return fmt::format("[{}]", fmt::join(numbers, ", ")); });
  }

  /// Keys must be plain names, each there once.
  void check_map() const {
    const std::string where = label("");
    require(node.IsMap(), fmt::format("{}: expected a map of keys and values, found {}", where, words_for(node)));
    std::vector<std::string> keys;
    for (const auto& entry : node) {
      require(entry.first.IsScalar(),
              fmt::format("{}: a key is {}, expected a name", where, words_for(entry.first)));
      const std::string& key = entry.first.Scalar();
      if (std::find(keys.begin(), keys.end(), key) != keys.end()) {
        std::vector<std::string> full = path;
        full.push_back(key);
        throw InputError(
            fmt::format("{}: {}: this key is here twice", document->place_of(entry.first.Mark()), join(full)));
      }
      keys.push_back(key);
    }
  }
};

YamlSection::YamlSection(std::unique_ptr<State> state) : state_(std::move(state)) {}
YamlSection::YamlSection(YamlSection&&) noexcept = default;
YamlSection& YamlSection::operator=(YamlSection&&) noexcept = default;
YamlSection::~YamlSection() = default;

YamlSection YamlSection::open_for_reading(std::string_view text, const std::string& name,
                                          std::span<const std::string> overrides) {
  auto state = std::make_unique<State>();
  state->document = std::make_shared<YamlDocument>(text, name, overrides);
  state->node = state->document->root();
  state->check_map();
  return YamlSection(std::move(state));
}

YamlSection YamlSection::open_for_writing() {
  auto state = std::make_unique<State>();
  state->text = std::make_shared<std::string>();
  return YamlSection(std::move(state));
}

bool YamlSection::reading() const { return state_->text == nullptr; }
std::string YamlSection::text() const { return reading() ? "" : *state_->text; }

void YamlSection::item(std::string_view key, bool& value) {
  state_->item(key, value, "true or false", parse_bool, [](bool on) { return on ? "true" : "false"; });
}
void YamlSection::item(std::string_view key, int& value) { state_->number(key, value, "an integer"); }
void YamlSection::item(std::string_view key, std::int64_t& value) { state_->number(key, value, "an integer"); }
void YamlSection::item(std::string_view key, std::uint64_t& value) {
  state_->number(key, value, "an integer that is not negative");
}
void YamlSection::item(std::string_view key, double& value) { state_->number(key, value, "a finite number"); }
void YamlSection::item(std::string_view key, std::vector<std::int64_t>& value) {
  state_->list(key, value, "a list of integers, such as [48, 48, 48]");
}
void YamlSection::item(std::string_view key, std::vector<double>& value) {
  state_->list(key, value, "a list of finite numbers, such as [1.0, 2.5]");
}

void YamlSection::item(std::string_view key, std::string& value) {
  if (!reading() && value.empty()) return;
  const auto read = [](const YAML::Node& given, std::string& into) {
    if (given.IsScalar()) into = given.Scalar();
    return given.IsScalar() && !into.empty();
  };
  state_->item(key, value, "text", read, quoted);
}

void YamlSection::item(std::string_view key, std::vector<std::string>& value) {
  if (!reading() && value.empty()) return;
  const auto read = [](const YAML::Node& given, std::vector<std::string>& into) {
    into.clear();
    if (given.IsScalar()) into.push_back(given.Scalar());
    for (const YAML::Node& entry : given) into.push_back(entry.IsScalar() ? entry.Scalar() : "");
    return !given.IsMap() && !into.empty() && std::find(into.begin(), into.end(), "") == into.end();
  };
  const auto print = [](const std::vector<std::string>& texts) {
    std::vector<std::string> parts;
    parts.reserve(texts.size());
    for (const std::string& text : texts) parts.push_back(quoted(text));
    return parts.size() == 1 ? parts.front() : fmt::format("[{}]", fmt::join(parts, ", "));
  };
  state_->item(key, value, "text or a list of texts", read, print);
}

std::size_t YamlSection::choose(std::string_view key, const std::string& text,
                                const std::vector<std::string>& names) {
  std::string name = text;
  item(key, name);
  if (!reading() || !has(key)) return names.size();
  const auto place = std::find(names.begin(), names.end(), name);
  if (place != names.end()) return static_cast<std::size_t>(place - names.begin());
  const std::string near = nearest_name(name, names);
  throw InputError(fmt::format("{}: '{}' is none of {}{}", state_->label(key), name, fmt::join(names, ", "),
                               near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
}

void YamlSection::choice(std::string_view key, std::string& value, const std::vector<std::string>& names) {
  const std::size_t chosen = choose(key, value, names);
  if (chosen < names.size()) value = names[chosen];
}

std::optional<YamlSection> YamlSection::enter(std::string_view key) {
  if (!reading()) {
    state_->write(key, "");
    YamlSection inner = empty(key);
    return inner;
  }
  const YAML::Node node = state_->value(key);
  if (!node.IsDefined() || node.IsNull()) return std::nullopt;
  YamlSection inner = empty(key);
  inner.state_->node.reset(node);
  for (const auto& entry : state_->node) {
    if (entry.first.Scalar() == key) inner.state_->mark = entry.first.Mark();
  }
  inner.state_->check_map();
  return inner;
}

YamlSection YamlSection::empty(std::string_view key) const {
  auto state = std::make_unique<State>();
  state->document = state_->document;
  state->text = state_->text;
  state->mark = state_->mark;
  state->path = state_->path;
  state->path.emplace_back(key);
  return YamlSection(std::move(state));
}

bool YamlSection::has(std::string_view key) const {
  return reading() && state_->node.IsMap() && std::as_const(state_->node)[std::string(key)].IsDefined();
}

std::string YamlSection::scalar(std::string_view key) const {
  if (!has(key)) return "";
  const YAML::Node node = std::as_const(state_->node)[std::string(key)];
  return node.IsScalar() ? node.Scalar() : "";
}

void YamlSection::check(std::string_view key, bool ok, const std::string& what) const {
  if (reading() && !ok) throw InputError(fmt::format("{}: {}", state_->label(key), what));
}

void YamlSection::finish() const {
  if (!reading() || !state_->node.IsMap()) return;
  for (const auto& entry : state_->node) {
    const std::string& key = entry.first.Scalar();
    if (std::find(state_->known.begin(), state_->known.end(), key) != state_->known.end()) continue;
    const std::string near = nearest_name(key, state_->known);
    throw InputError(near.empty() ? fmt::format("{}: unknown key; known here: {}", state_->label(key),
                                                fmt::join(state_->known, ", "))
                                  : fmt::format("{}: unknown key; did you mean '{}'?", state_->label(key), near));
  }
}

}  // namespace block_eigs
