#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace block_eigs {

/// "a, b, c" for a message: of many names the first, and how many more there are.
inline std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 12;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) text += (i > 0 ? ", " : "") + names[i];
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

}  // namespace block_eigs
