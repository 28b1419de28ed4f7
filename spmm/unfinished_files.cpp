#include "spmm/unfinished_files.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <exception>

namespace block_eigs {

namespace {

struct Slot {
  std::atomic<bool> taken{false};
  std::atomic<bool> complete{false};  ///< the name is
  std::array<char, 4096> path{};
};
std::array<Slot, 16> slots;

}  // namespace

UnfinishedFile::UnfinishedFile(const std::string& path) noexcept : exceptions_(std::uncaught_exceptions()) {
  // A note that stayed of the same file is enough.
  for (const Slot& slot : slots) {
    if (slot.complete && path == slot.path.data()) return;
  }
  for (std::size_t i = 0; i < slots.size() && path.size() < slots[i].path.size(); ++i) {
    if (slots[i].taken.exchange(true)) continue;
    slots[i].path[path.copy(slots[i].path.data(), slots[i].path.size() - 1)] = '\0';
    slots[i].complete = true;
    slot_ = static_cast<int>(i);
    return;
  }
}

UnfinishedFile::~UnfinishedFile() {
  if (slot_ < 0 || std::uncaught_exceptions() > exceptions_) return;
  Slot& slot = slots[static_cast<std::size_t>(slot_)];
  slot.complete = false;
  slot.taken = false;
}

void remove_unfinished_files() noexcept {
  for (const Slot& slot : slots) {
    if (slot.complete) ::unlink(slot.path.data());
  }
}

}  // namespace block_eigs
