#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace YAML {
class Node;
struct Mark;
}  // namespace YAML

namespace block_eigs {

/// A YAML text whose values the command line may replace, and where each value came from. Not collective.
class YamlDocument {
 public:
  /// `name` stands for the text in messages; each override is "key.path=value", the value itself in YAML. Throws
  /// InputError where the text is not valid YAML or an override does not fit it.
  YamlDocument(std::string_view text, std::string name, std::span<const std::string> overrides);
  ~YamlDocument();

  const YAML::Node& root() const { return *root_; }

  /// "run.yaml:7", or the override on the command line that gave the value at `path`.
  std::string place_of(const std::vector<std::string>& path, const YAML::Mark& mark) const;
  /// "run.yaml:7"
  std::string place_of(const YAML::Mark& mark) const;

 private:
  struct Override {
    std::string text;
    std::vector<std::string> path;
    std::string value;
  };
  static Override parse_override(const std::string& text);
  void apply(const Override& change);

  std::string name_;
  std::vector<Override> overrides_;
  std::unique_ptr<YAML::Node> root_;
};

/// A node for people: a scalar as it stands, shortened, else what kind of thing it is.
std::string words_for(const YAML::Node& node);

}  // namespace block_eigs
