#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace block_eigs {

/// One map of a YAML document, visited key by key. A struct is described once, by a function
/// `describe(YamlSection&, S&)` that names its keys in order; that function reads the struct from a document or,
/// on a section opened for writing, prints it. Reading is strict: unknown and repeated keys and wrong types throw
/// InputError with the place ("run.yaml:7" or the command-line override), what was found and what would be right.
/// A key that is absent leaves its value as it was, so that defaults stand in the structs. Nothing is collective.
class YamlSection {
 public:
  /// Opens the map that `text` holds. `name` stands for the text in messages; each override "key.path=value" then
  /// replaces or adds one value, itself written in YAML.
  static YamlSection open_for_reading(std::string_view text, const std::string& name,
                                      std::span<const std::string> overrides);
  static YamlSection open_for_writing();

  YamlSection(YamlSection&&) noexcept;
  YamlSection& operator=(YamlSection&&) noexcept;
  ~YamlSection();

  bool reading() const;

  void item(std::string_view key, bool& value);
  void item(std::string_view key, int& value);
  void item(std::string_view key, std::int64_t& value);
  void item(std::string_view key, std::uint64_t& value);
  /// Finite numbers only.
  void item(std::string_view key, double& value);
  /// Empty text is left out when writing, and so are empty lists.
  void item(std::string_view key, std::string& value);
  /// One text, or a list of them.
  void item(std::string_view key, std::vector<std::string>& value);
  void item(std::string_view key, std::vector<std::int64_t>& value);
  void item(std::string_view key, std::vector<double>& value);
  template <std::size_t N>
  void item(std::string_view key, std::array<double, N>& value) {
    std::vector<double> list(value.begin(), value.end());
    item(key, list);
    check(key, list.size() == N, "needs " + std::to_string(N) + " numbers, found " + std::to_string(list.size()));
    std::copy(list.begin(), list.end(), value.begin());
  }

  /// One of a few names.
  template <class Enum, std::size_t N>
  void choice(std::string_view key, Enum& value, const std::array<std::pair<const char*, Enum>, N>& names) {
    std::vector<std::string> known;
    std::string text;
    for (const auto& [name, meaning] : names) {
      known.emplace_back(name);
      if (meaning == value) text = name;
    }
    const std::size_t chosen = choose(key, text, known);
    if (chosen < N) value = names[chosen].second;
  }
  /// As above for a name that stays text; empty where absent.
  void choice(std::string_view key, std::string& value, const std::vector<std::string>& names);

  /// A map within this one; its keys keep their values where it is absent.
  template <class S>
  void section(std::string_view key, S& value) {
    std::optional<YamlSection> inner = enter(key);
    if (!inner) inner = empty(key);
    describe(*inner, value);
    inner->finish();
  }
  /// A map that may be absent.
  template <class S>
  void section(std::string_view key, std::optional<S>& value) {
    if (!reading() && !value) return;
    std::optional<YamlSection> inner = enter(key);
    if (!inner) return;
    if (!value) value.emplace();
    describe(*inner, *value);
    inner->finish();
  }

  /// True where the document holds `key`; false when writing. Does not make the key a known one.
  bool has(std::string_view key) const;
  /// The text of `key` as the document holds it; empty where it is absent, no scalar, or when writing.
  std::string scalar(std::string_view key) const;
  /// Throws InputError at the place of `key` (of this section where `key` is absent) unless ok or writing.
  void check(std::string_view key, bool ok, const std::string& what) const;
  /// Throws InputError when the document holds a key that nothing asked for; names the nearest known one.
  void finish() const;

  /// What was written.
  std::string text() const;

 private:
  struct State;
  explicit YamlSection(std::unique_ptr<State> state);
  std::optional<YamlSection> enter(std::string_view key);
  YamlSection empty(std::string_view key) const;
  /// Position of the name read, or names.size() where the key is absent; `text` is what to write.
  std::size_t choose(std::string_view key, const std::string& text, const std::vector<std::string>& names);

  std::unique_ptr<State> state_;
};

/// Reads all of `value` from a document; every key must be known.
template <class S>
void read_yaml(std::string_view text, const std::string& name, std::span<const std::string> overrides, S& value) {
  YamlSection root = YamlSection::open_for_reading(text, name, overrides);
  describe(root, value);
  root.finish();
}

/// The document that reads back as `value`.
template <class S>
std::string write_yaml(const S& value) {
  YamlSection root = YamlSection::open_for_writing();
  S copy = value;
  describe(root, copy);
  return root.text();
}

}  // namespace block_eigs
