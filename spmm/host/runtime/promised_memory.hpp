#pragma once

#include <cstddef>

#include "spmm/device/device.hpp"

namespace block_eigs::host {

/// Whether so many bytes may be there: where memory may be promised that is not, touching it would end the process
/// without a word. Few bytes are not worth the question.
inline bool may_be_there(const Device& device, std::size_t bytes) {
  constexpr std::size_t many_bytes = std::size_t{64} << 20;
  return bytes < many_bytes || bytes <= device.memory().free;
}

}  // namespace block_eigs::host
