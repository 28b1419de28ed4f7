#include "io/config/yaml_document.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "spmm/error.hpp"

namespace block_eigs {

namespace {

std::string line_in(const std::string& name, const YAML::Mark& mark) {
  return mark.is_null() ? name : fmt::format("{}:{}", name, mark.line + 1);
}

std::string on_command_line(const std::string& text) { return fmt::format("command line, '{}'", text); }

/// Lets no second document begin: yaml-cpp 0.7 finds one after the other, without end, where a comma or a bracket
/// stands between nodes.
class OneDocument : public YAML::EventHandler {
 public:
  explicit OneDocument(std::string name) : name_(std::move(name)) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    require(std::exchange(first_, false),
            fmt::format("{}: not valid YAML, or another YAML document; expected one", line_in(name_, mark)));
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

 private:
  std::string name_;
  bool first_ = true;
};

/// Throws where the text is that of a file with numbers, which newcomers give in place of a config.
void refuse_data(std::string_view text, const std::string& name) {
  using namespace std::string_view_literals;
  constexpr std::array beginnings{"PK\x03\x04"sv, "\x89HDF"sv,    "%%MatrixMarket"sv,
                                  "\x93NUMPY"sv,  "MATLAB 5.0"sv, "\x1f\x8b"sv};
  const bool is_data = std::any_of(beginnings.begin(), beginnings.end(),
                                   [&](std::string_view beginning) { return text.starts_with(beginning); });
  require(!is_data,
          fmt::format("{0}: is a file of data, not a config; a config names it: matrix: {{file: {0}}}", name));
}

YAML::Node parse(std::string_view text, const std::string& name) {
  refuse_data(text, name);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    OneDocument one(name);
    while (parser.HandleNextDocument(one)) continue;
    return YAML::Load(std::string(text));
  } catch (const YAML::Exception& error) {
    throw InputError(fmt::format("{}: not valid YAML: {}", line_in(name, error.mark), error.msg));
  }
}

}  // namespace

YamlDocument::YamlDocument(std::string_view text, std::string name, std::span<const std::string> overrides)
    : name_(std::move(name)), root_(std::make_unique<YAML::Node>(parse(text, name_))) {
  if (!root_->IsDefined() || root_->IsNull()) *root_ = YAML::Node(YAML::NodeType::Map);
  require(root_->IsMap(),
          fmt::format("{}: expected a map of keys and values, found {}", name_, words_for(*root_)));
  for (const std::string& change : overrides) {
    overrides_.push_back(parse_override(change));
    apply(overrides_.back());
  }
}

YamlDocument::~YamlDocument() = default;

std::string YamlDocument::place_of(const YAML::Mark& mark) const { return line_in(name_, mark); }

std::string YamlDocument::place_of(const std::vector<std::string>& path, const YAML::Mark& mark) const {
  const auto gave = [&](const Override& change) {
    return change.path.size() <= path.size() && std::equal(change.path.begin(), change.path.end(), path.begin());
  };
  const auto last = std::find_if(overrides_.rbegin(), overrides_.rend(), gave);
  return last != overrides_.rend() ? on_command_line(last->text) : place_of(mark);
}

YamlDocument::Override YamlDocument::parse_override(const std::string& text) {
  const std::size_t equals = text.find('=');
  require(equals != std::string::npos && equals > 0,
          fmt::format("{}: expected key.path=value, such as eigensolver.pairs=16", on_command_line(text)));
  Override result{text, {}, text.substr(equals + 1)};
  for (std::size_t begin = 0; begin <= equals;) {
    const std::size_t end = std::min(text.find('.', begin), equals);
    require(end > begin, fmt::format("{}: the key path has an empty part", on_command_line(text)));
    result.path.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

void YamlDocument::apply(const Override& change) {
  const std::string place = on_command_line(change.text);
  YAML::Node node = *root_;
  for (std::size_t i = 0; i + 1 < change.path.size(); ++i) {
    YAML::Node next = node[change.path[i]];
    if (!next.IsDefined() || next.IsNull()) {
      next = YAML::Node(YAML::NodeType::Map);
      node[change.path[i]] = next;
    }
    require(next.IsMap(), fmt::format("{}: '{}' is {}, not a map", place, change.path[i], words_for(next)));
    node.reset(next);
  }
  node[change.path.back()] = parse(change.value, place);
}

std::string words_for(const YAML::Node& node) {
  if (node.IsMap()) return "a map";
  if (node.IsSequence()) return "a list";
  if (!node.IsScalar()) return "nothing";
  constexpr std::size_t most = 40;
  std::string text = node.Scalar().substr(0, most) + (node.Scalar().size() > most ? "..." : "");
  const auto is_control = [](unsigned char c) { return c < ' ' || c == 127; };
  std::replace_if(text.begin(), text.end(), is_control, '?');
  return node.Tag() == "!" ? fmt::format("the text \"{}\"", text) : fmt::format("'{}'", text);
}

}  // namespace block_eigs
