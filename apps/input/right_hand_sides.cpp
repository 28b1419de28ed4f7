#include "apps/input/right_hand_sides.hpp"

#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/input/block_input.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

RightHandSides::RightHandSides(const Communicator& comm, const RunConfig& config, GlobalIndex rows,
                               std::shared_ptr<const RowOrder> order)
    : order_(std::move(order)) {
  require(config.right_hand_sides.has_value(),
          "the config has no 'right_hand_sides': needs right_hand_sides: {file: ...} or {random: 16}");
  random_ = *config.right_hand_sides;
  if (!random_.input.file.empty()) source_ = open_block(comm, random_.input, "right_hand_sides", rows);
  require(count() >= 1, fmt::format("right_hand_sides: {} holds no vectors", description()));
  require(count() <= std::numeric_limits<LocalIndex>::max(),
          fmt::format("right_hand_sides: {} are too many", count()));
}

std::string RightHandSides::description() const {
  return source_ ? source_->description() : fmt::format("random, seed {}", random_.seed);
}

template <class T>
DenseBlock<T> RightHandSides::read(BlockSpace<T>& space) {
  const Profile::Scope scope(space.profile(), Phase::io);
  if (source_) return read_block(space, *source_, count());
  if (!order_) {
    DenseBlock<T> block = space.make_block(static_cast<LocalIndex>(count()));
    space.fill_random(block.view(), random_.seed);
    return block;
  }
  // Random numbers belong to rows of the file.
  BlockSpace<T> in_file(space.context(), order_->file());
  DenseBlock<T> drawn = in_file.make_block(static_cast<LocalIndex>(count()));
  in_file.fill_random(drawn.view(), random_.seed);
  const std::vector<T> values = drawn.to_host();
  drawn = {};
  const std::vector<double> ordered =
      order_->reordered(std::vector<double>(values.begin(), values.end()), static_cast<std::size_t>(count()));
  DenseBlock<T> block = space.make_block(static_cast<LocalIndex>(count()));
  block.from_host(std::vector<T>(ordered.begin(), ordered.end()).data());
  return block;
}

template <class T>
DenseBlock<double> RightHandSides::read_exactly(BlockSpace<double>& space, const DenseBlock<T>& solved,
                                                LocalIndex first, LocalIndex count) {
  DenseBlock<double> block = space.make_block(count);
  if (source_) {
    if (take_resident(space, *source_, first, block)) return block;
    const std::vector<double> values = source_->read(space.partition(), first, count);
    block.from_host(values.data());
  } else {
    make_kernels<T>(space.context().device)->convert(solved.columns(first, count), {}, block.view());
  }
  return block;
}

template DenseBlock<float> RightHandSides::read(BlockSpace<float>&);
template DenseBlock<double> RightHandSides::read(BlockSpace<double>&);
template DenseBlock<double> RightHandSides::read_exactly(BlockSpace<double>&, const DenseBlock<float>&, LocalIndex,
                                                         LocalIndex);

}  // namespace block_eigs
