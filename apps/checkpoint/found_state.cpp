#include "apps/checkpoint/found_state.hpp"

#include <string_view>

#include <fmt/format.h>

#include "spmm/error.hpp"

namespace block_eigs {

int iterations_of(const SavedNumbers& state, const Journey& journey) {
  // A state of a finished run counts all of them.
  const bool more = journey.numbers.contains("earlier") && !state.contains("finished");
  return static_cast<int>(state.number("iterations") + (more ? journey.numbers.number("earlier") : 0.0));
}

FoundState::FoundState(const Communicator& comm, const std::string& path, const std::string& program)
    : reader_(comm, path) {
  const std::string wrote = reader_.text(program_text);
  comm.collectively([&] {
    require(wrote == program, fmt::format("checkpoint: {} was written by {}, this is {}", path, wrote, program));
  });
  constexpr std::string_view prefix = journey_prefix;
  for (const auto& [name, values] : reader_.numbers()) {
    if (name.starts_with(prefix)) {
      journey_.numbers[name.substr(prefix.size())] = values;
    } else {
      numbers_[name] = values;
    }
  }
  journey_.text = reader_.text(journey_text);
}

template <class T>
void FoundState::read(const std::string& block, const RowLayout& layout, DenseBlock<T>& rows) const {
  layout.comm.collectively([&] {
    require(reader_.rows(block) == layout.file.rows() && reader_.columns(block) == rows.cols(),
            fmt::format("checkpoint: {} is damaged: {} is not there in the size that is needed", reader_.path(),
                        block));
  });
  fill(
      layout, [&](GlobalIndex first, std::int64_t count, double* out) { reader_.rows(block, first, count, out); },
      rows);
}

template void FoundState::read(const std::string&, const RowLayout&, DenseBlock<float>&) const;
template void FoundState::read(const std::string&, const RowLayout&, DenseBlock<double>&) const;

}  // namespace block_eigs
