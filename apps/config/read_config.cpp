#include <cstdint>
#include <iostream>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "apps/config/config.hpp"
#include "io/files/input_file.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

constexpr const char* standard_input = "-";

/// At most `most` bytes; throws InputError.
std::string read_standard_input(std::size_t most) {
  std::string text{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  require(!text.empty(), "standard input: is empty; a config is YAML");
  require(text.size() <= most,
          fmt::format("standard input: holds {} bytes; a config is YAML of at most {}", text.size(), most));
  return text;
}

}  // namespace

RunConfig read_config(const Communicator& comm, const std::string& path, std::span<const std::string> overrides) {
  constexpr std::int64_t largest = 1 << 20;
  std::string text;
  comm.collectively([&] {
    if (!comm.is_root()) return;
    if (path == standard_input) {
      text = read_standard_input(static_cast<std::size_t>(largest));
      return;
    }
    const InputFile file(path);
    require(file.size() <= largest, fmt::format("{}: holds {} bytes; a config file is YAML of at most {}",
                                                file.path(), file.size(), largest));
    text = file.head(static_cast<std::size_t>(file.size()));
  });
  const std::string name = path == standard_input ? "standard input" : absolute_path(path);
  return parse_config(comm.broadcast(text), name, overrides);
}

}  // namespace block_eigs
