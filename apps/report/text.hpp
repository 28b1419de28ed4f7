#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace block_eigs {

/// Of these programs: "1.2.0"
const char* version();
/// "0.53 s", "12.1 s", "3 min 20 s", "2 h 5 min"
std::string duration_text(double seconds);
/// "812 kB", "1.3 GB"; powers of 1000
std::string bytes_text(double bytes);
/// "1,234,567"
std::string count_text(std::int64_t count);
/// Ten digits, or so many more that the text stays on its side of a number at that distance
std::string text_apart(double value, double distance);
/// Positions of the true entries, the first being 1: "3, 7-12, 20"
std::string ranges_text(const std::vector<bool>& chosen);

}  // namespace block_eigs
