#include "io/files/read_in_pieces.hpp"

#include <algorithm>

#include "spmm/first_error.hpp"

namespace block_eigs {

void read_in_pieces(std::int64_t count, std::int64_t width,
                    const std::function<void(std::int64_t begin, std::int64_t end)>& read) {
  const std::int64_t step = std::max<std::int64_t>(1, piece_bytes / width);
  const std::int64_t pieces = (count + step - 1) / step;
  FirstError failure;
#pragma omp parallel for schedule(static)
  for (std::int64_t p = 0; p < pieces; ++p) failure.run([&] { read(p * step, std::min(count, (p + 1) * step)); });
  failure.rethrow();
}

}  // namespace block_eigs
