// The YAML config; the first line, where it starts with '=', is an override as on the command line.
#include "apps/config/config.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "spmm/error.hpp"
#include "tests/fuzz/reader.hpp"

namespace {

/// What a result says it was made with must be readable, and say the same.
void require_same(const std::string& resolved) {
  using namespace block_eigs;
  std::string again;
  try {
    again = resolved_config(parse_config(resolved, "resolved", {}));
  } catch (const InputError& error) {
    again = error.what();
  }
  if (again != resolved) throw std::logic_error("the resolved config\n" + resolved + "reads as\n" + again);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace block_eigs;
  std::string text(data, data + size);
  std::vector<std::string> overrides;
  if (text.starts_with('=')) {
    const auto newline = std::min(text.find('\n'), text.size());
    overrides.push_back(text.substr(1, newline - 1));
    text.erase(0, newline);
  }
  fuzz::check_reader([&] {
    const std::string resolved = resolved_config(parse_config(text, "run.yaml", overrides));
    require_same(resolved);
  });
  return 0;
}
