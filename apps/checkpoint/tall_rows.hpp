#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "io/checkpoint/row_writer.hpp"
#include "io/partition/row_order.hpp"
#include "spmm/device/device.hpp"
#include "spmm/matrix/dense_block.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"

// Rows of vectors on their way between solvers and files.
namespace block_eigs {

/// Where vectors of a problem are, and how their rows lie in a file.
struct RowLayout {
  Communicator comm;
  std::shared_ptr<Device> device;
  std::shared_ptr<const RowOrder> order;  ///< null where solvers have the file's order
  Partition file;                         ///< how rows are dealt in the file's order
};

/// Own rows in host memory, row-major, in the solver's order. Not collective; throws std::bad_alloc and RunError.
template <class T>
std::vector<T> to_host(const std::shared_ptr<Device>& device, ConstBlockView<T> view);

/// The same a piece at a time, so that no copy of the whole is held. `view` has to be valid while they are used.
template <class T>
RowPieces<T> pieces_of(const std::shared_ptr<Device>& device, ConstBlockView<T> view);

/// A copy in host memory, made by all threads; what is in `view` may change from here on.
template <class T>
RowPieces<T> pieces_of_copy(const std::shared_ptr<Device>& device, ConstBlockView<T> view);

/// Own rows in the file's order. Collective; throws RunError on all ranks.
template <class T>
std::vector<T> in_file_order(const RowLayout& layout, ConstBlockView<T> view);

/// Writes rows first .. first + count - 1, as many as a piece has at the most, row-major to `out`. May throw.
using RowReader = std::function<void(GlobalIndex first, std::int64_t count, double* out)>;

/// Own rows of `block`, in the solver's order, from those that `read` gives of the file's. Collective; throws on
/// all ranks what one rank throws.
template <class T>
void fill(const RowLayout& layout, const RowReader& read, DenseBlock<T>& block);

}  // namespace block_eigs
