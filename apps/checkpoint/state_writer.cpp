#include "apps/checkpoint/state_writer.hpp"

#include <algorithm>
#include <utility>

#include "spmm/device/address_space.hpp"
#include "spmm/device/memory_left.hpp"

namespace block_eigs {

namespace {

double bytes_of(const std::vector<SavedBlock>& blocks) {
  double bytes = 0.0;
  for (const SavedBlock& block : blocks) {
    std::visit(
        [&](const auto& rows) {
          bytes += static_cast<double>(sizeof(*rows.data)) * static_cast<double>(rows.rows) * rows.cols;
        },
        block.rows);
  }
  return bytes;
}

/// Whether copies take at most half of what is left to the ranks of each node: solvers may need more later.
bool room_for_copies(const Communicator& comm, const std::vector<SavedBlock>& blocks) {
  constexpr double share = 0.5;
  // Ranks have about as much.
  const double bytes = comm.max(bytes_of(blocks));
  const double left = std::min(shared_memory_left() / comm.node_size(), static_cast<double>(address_space_left()));
  return !comm.any(bytes > share * left);
}

template <class T>
void add_rows(CheckpointWriter& writer, const std::string& name, ConstBlockView<T> rows, const RowLayout& layout,
              bool copies) {
  if (rows.cols == 0) return;
  if (layout.order) {
    writer.vectors(name, layout.file, rows.cols, in_file_order(layout, rows));
    return;
  }
  RowPieces<T> pieces;
  layout.comm.collectively(
      [&] { pieces = copies ? pieces_of_copy(layout.device, rows) : pieces_of(layout.device, rows); });
  writer.vectors(name, layout.file, rows.cols, std::move(pieces));
}

}  // namespace

void StateWriter::begin(const StateTexts& texts, const SavedState& state, const RowLayout& layout) {
  auto writer = std::make_unique<CheckpointWriter>(comm_, path_);
  writer->text(program_text, texts.program);
  writer->text(identity_text, text_of(texts.identity));
  writer->text(journey_text, texts.journey.text);
  writer->numbers("tolerance", {texts.tolerance});
  for (const auto& [name, values] : state.numbers) writer->numbers(name, values);
  for (const auto& [name, values] : texts.journey.numbers) writer->numbers(journey_prefix + name, values);
  const bool copies = room_for_copies(comm_, state.blocks);
  for (const SavedBlock& block : state.blocks)
    std::visit([&](const auto& rows) { add_rows(*writer, block.name, rows, layout, copies); }, block.rows);
  begun_ = iterations_of(state.numbers, texts.journey);
  if (copies) writer->start();
  writer_ = std::move(writer);
  if (!copies) finish();
}

void StateWriter::finish() {
  if (!writer_) return;
  const std::unique_ptr<CheckpointWriter> writer = std::move(writer_);
  writer->commit();
  written_ = begun_;
}

}  // namespace block_eigs
