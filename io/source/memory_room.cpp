#include "io/source/memory_room.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "spmm/device/memory_left.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

void require_memory(const Communicator& comm, double bytes, const std::string& what) {
  // Less than this nobody has to look at.
  constexpr double least = 64e6;
  const double most = comm.max(bytes);
  if (most < least) return;
  // Nonzeros may be dealt very unequally, and no node takes more than all of them.
  const double node = std::min(most * comm.node_size(), comm.sum(bytes));
  comm.collectively([&] {
    const double left = shared_memory_left();
    if (node <= left) return;
    throw InputError(fmt::format(
        "{}: take {:.1f} GB to read{}, and {:.1f} GB of memory are left; use more ranks on more nodes, or look "
        "whether the file says what was meant",
        what, node * 1e-9, comm.node_size() > 1 ? fmt::format(" on the {} ranks of a node", comm.node_size()) : "",
        left * 1e-9));
  });
}

}  // namespace block_eigs
