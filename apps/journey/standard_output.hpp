#pragma once

#include <string>

namespace block_eigs {

/// Sends what anyone in this process writes to standard output, libraries too, to nowhere while it lives; but for
/// lines that are meant for it.
class SilentOutput {
 public:
  SilentOutput();
  SilentOutput(const SilentOutput&) = delete;
  SilentOutput& operator=(const SilentOutput&) = delete;
  /// Standard output is as before.
  ~SilentOutput();

  /// To where standard output went.
  void write_line(const std::string& text) const;

 private:
  int original_ = -1;
};

}  // namespace block_eigs
