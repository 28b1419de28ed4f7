#include "tests/faults/callers.hpp"

#include <link.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace faults {

namespace {

struct Range {
  std::uintptr_t begin;
  std::uintptr_t end;
  Caller who;
};
std::array<Range, 64> ranges{};
int known = 0;

Caller owner(const char* path) {
  const char* slash = std::strrchr(path, '/');
  const char* name = slash != nullptr ? slash + 1 : path;
  const auto any_of = [&](const auto& prefixes) {
    for (const char* prefix : prefixes) {
      if (std::strncmp(name, prefix, std::strlen(prefix)) == 0) return true;
    }
    return false;
  };
  constexpr std::array program = {"libstdc++.", "libyaml-cpp.", "libfmt."};
  constexpr std::array libraries = {"libhdf5", "libopenblas", "libz.", "libzip.", "libptscotch", "libscotch"};
  if (*path == '\0' || any_of(program)) return Caller::program;
  if (std::strncmp(name, "libdmumps", 9) == 0) return Caller::factors;
  return any_of(libraries) ? Caller::libraries : Caller::others;
}

int note(dl_phdr_info* object, std::size_t, void* first) {
  // The program comes first and has no name; what the system puts into every process has none either.
  auto& is_first = *static_cast<bool*>(first);
  const bool named = *object->dlpi_name != '\0';
  const Caller who = named || is_first ? owner(object->dlpi_name) : Caller::others;
  is_first = false;
  if (who == Caller::others) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& part = object->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0 || known == static_cast<int>(ranges.size())) continue;
    const std::uintptr_t begin = object->dlpi_addr + part.p_vaddr;
    ranges[static_cast<std::size_t>(known++)] = {begin, begin + part.p_memsz, who};
  }
  return 0;
}

}  // namespace

void note_objects() {
  bool first = true;
  known = 0;
  dl_iterate_phdr(note, &first);
}

Caller caller(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (int i = 0; i < known; ++i) {
    const Range& range = ranges[static_cast<std::size_t>(i)];
    if (at >= range.begin && at < range.end) return range.who;
  }
  return Caller::others;
}

}  // namespace faults
