#include "spmm/parallel/transport_attempt.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <set>
#include <vector>

#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

namespace {

/// The lowest rank's text that is not empty, on all ranks. Collective.
std::string first_text(const Communicator& comm, const std::string& text) {
  const std::vector<std::int64_t> letters(text.begin(), text.end());
  const Words all = comm.all_to_all(Words(static_cast<std::size_t>(comm.size()), letters));
  const auto found = std::find_if(all.begin(), all.end(), [](const auto& words) { return !words.empty(); });
  std::string result;
  if (found == all.end()) return result;
  for (const std::int64_t letter : *found) result.push_back(static_cast<char>(letter));
  return result;
}

}  // namespace

std::string failure_of(const Communicator& comm, const std::function<void()>& step) {
  std::string failure;
  try {
    step();
  } catch (const std::exception& error) {
    failure = error.what();
    if (failure.empty()) failure = "failed";  // for nothing is said where all is well
  }
  return comm.any(!failure.empty()) ? first_text(comm, failure) : "";
}

bool share_devices(const Communicator& comm, const DeviceNumber& number) {
  const Words numbers = comm.all_to_all(
      Words(static_cast<std::size_t>(comm.size()), std::vector<std::int64_t>(number.begin(), number.end())));
  return std::set(numbers.begin(), numbers.end()).size() < numbers.size();
}

}  // namespace block_eigs
