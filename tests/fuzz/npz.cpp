// SciPy's .npz: most inputs are changed inside, in an array or in the list of arrays, under checksums that are
// right.
#include <algorithm>

#include "tests/fuzz/reader.hpp"
#include "tests/fuzz/zip_archive.hpp"

using namespace block_eigs::fuzz;

namespace {

/// Where the elements of most arrays begin.
constexpr std::size_t npy_header = 128;

void change_array(ZipMember& member, Draw& draw, std::size_t most) {
  Bytes& content = member.content;
  switch (draw.below(6)) {
    case 0:
      return plant_digits(content, npy_header, draw);
    case 1:
      return mutate_part(content, 0, std::min(npy_header, content.size()));
    case 2:
      return plant_number(content, 0, content.size(), draw);
    case 3:
      if (content.size() > npy_header) plant_number(content, npy_header, content.size() - npy_header, draw);
      return;
    case 4:
      member.stored = !member.stored;
      return;
    default:
      return mutate_within(content, most);
  }
}

void change_list(std::vector<ZipMember>& members, Draw& draw) {
  const std::size_t at = draw.below(members.size());
  switch (draw.below(3)) {
    case 0:
      members.erase(members.begin() + static_cast<std::ptrdiff_t>(at));
      return;
    case 1:
      std::swap(members[at].content, members[draw.below(members.size())].content);
      return;
    default:
      members.push_back(members[at]);
      members.back().name = members[draw.below(members.size())].name;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_matrix(as_file(data, size));
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  Draw draw(seed);
  auto members = read_zip({data, data + size});
  if (members.empty() || draw.below(8) == 0) return LLVMFuzzerMutate(data, size, most);
  if (draw.below(8) == 0) change_list(members, draw);
  if (!members.empty()) change_array(members[draw.below(members.size())], draw, most);
  Bytes archive = write_zip(members);
  if (draw.below(8) == 0) plant_number(archive, 0, archive.size(), draw);
  if (archive.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::copy(archive.begin(), archive.end(), data);
  return archive.size();
}
