#include "apps/checkpoint/identity.hpp"

#include <sstream>
#include <vector>

#include <fmt/format.h>

namespace block_eigs {

namespace {

/// The config with everything that may be another one at its default.
RunConfig without_what_may_change(const RunConfig& config, const std::string& program) {
  RunConfig plain;
  plain.precision = config.precision;
  if (program == "block-solve") {
    plain.linear_solver = config.linear_solver;
    LinearSolverConfig& solver = plain.linear_solver;
    const LinearSolverConfig defaults;
    solver.tolerance = defaults.tolerance;
    solver.max_iterations = defaults.max_iterations;
    solver.initial.reset();
    return plain;
  }
  plain.eigensolver = config.eigensolver;
  EigensolverConfig& solver = plain.eigensolver;
  const LobpcgOptions defaults;
  solver.options.tolerance = defaults.tolerance;
  solver.options.max_iterations = defaults.max_iterations;
  solver.options.dense_up_to = defaults.dense_up_to;
  solver.verify = Verify::probe;  // as states have it that were written when this was the default
  solver.initial.reset();
  solver.constraints.reset();
  return plain;
}

/// Keys with their sections, "eigensolver.preconditioner.type", by the indentation of YAML in block style.
Identity flattened(const std::string& yaml) {
  Identity flat;
  std::vector<std::pair<std::size_t, std::string>> sections;
  std::istringstream lines(yaml);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t indent = line.find_first_not_of(' ');
    const std::size_t colon = line.find(':');
    if (indent == std::string::npos || colon == std::string::npos) continue;
    while (!sections.empty() && sections.back().first >= indent) sections.pop_back();
    std::string path;
    for (const auto& [depth, name] : sections) path += name + ".";
    const std::string key = line.substr(indent, colon - indent);
    if (colon + 1 >= line.size()) {
      sections.emplace_back(indent, key);
      continue;
    }
    flat[path + key] = line.substr(colon + 2);
  }
  return flat;
}

}  // namespace

Identity identity(const RunConfig& config, const std::string& program) {
  Identity all = flattened(resolved_config(without_what_may_change(config, program)));
  const std::string section = program == "block-solve" ? "linear_solver." : "eigensolver.";
  Identity result;
  for (const auto& [name, value] : all) {
    if (name.starts_with(section) || name == "precision") result[name] = value;
  }
  return result;
}

std::string text_of(const Identity& identity) {
  std::string text;
  for (const auto& [name, value] : identity) text.append(name).append(": ").append(value).append("\n");
  return text;
}

Identity identity_from(const std::string& text) {
  Identity identity;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) identity[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return identity;
}

std::string difference(const Identity& before, const Identity& now) {
  // Others follow from these.
  for (const char* name :
       {"eigensolver.pairs", "eigensolver.preconditioner.type", "linear_solver.preconditioner.type"}) {
    const auto then = before.find(name);
    const auto there = now.find(name);
    if (then != before.end() && there != now.end() && then->second != there->second)
      return fmt::format("{} was {}, now it is {}", name, then->second, there->second);
  }
  for (const auto& [name, value] : before) {
    const auto there = now.find(name);
    if (there == now.end()) return fmt::format("{} was {} and is not set now", name, value);
    if (there->second != value) return fmt::format("{} was {}, now it is {}", name, value, there->second);
  }
  for (const auto& [name, value] : now) {
    if (!before.contains(name)) return fmt::format("{} is {}, which was not set", name, value);
  }
  return {};
}

}  // namespace block_eigs
