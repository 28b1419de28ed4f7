#pragma once

#include <string>
#include <string_view>

namespace block_eigs {

/// `reason`, which a library gives for not reading a file, and that the file is damaged; that is left out where
/// the reason is the system's: no memory, no permission, a file that is gone, a device that fails.
inline std::string with_verdict(const std::string& reason, std::string_view verdict = "the file is damaged") {
  for (const std::string_view word : {"errno = ", "llocat", "H5MM_", "Malloc failure", "Can't open file",
                                      "Read error", "No such file", "Seek error", "stat info"}) {
    if (reason.find(word) != std::string::npos) return reason;
  }
  return reason + "; " + std::string(verdict);
}

}  // namespace block_eigs
