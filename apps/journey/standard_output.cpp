#include "apps/journey/standard_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace block_eigs {

SilentOutput::SilentOutput() {
  std::fflush(stdout);
  original_ = ::dup(STDOUT_FILENO);
  const int nowhere = ::open("/dev/null", O_WRONLY);
  if (original_ >= 0 && nowhere >= 0) ::dup2(nowhere, STDOUT_FILENO);
  if (nowhere >= 0) ::close(nowhere);
}

SilentOutput::~SilentOutput() {
  std::fflush(stdout);
  if (original_ < 0) return;
  ::dup2(original_, STDOUT_FILENO);
  ::close(original_);
}

void SilentOutput::write_line(const std::string& text) const {
  const std::string line = text + "\n";
  for (std::size_t written = 0; written < line.size();) {
    const ssize_t count = ::write(original_, line.data() + written, line.size() - written);
    if (count <= 0) return;
    written += static_cast<std::size_t>(count);
  }
}

}  // namespace block_eigs
