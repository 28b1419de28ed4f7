#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace block_eigs {

/// The name closest to `word` by the number of edits (insert, drop, replace a letter, swap two neighbours);
/// empty where none is near enough to be what was meant.
std::string nearest_name(std::string_view word, const std::vector<std::string>& names);

}  // namespace block_eigs
