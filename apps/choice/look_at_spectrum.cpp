#include "apps/choice/look_at_spectrum.hpp"

#include <cmath>
#include <vector>

namespace block_eigs {

namespace {

/// D^-1/2 in device memory.
template <class T>
Buffer<T> inverse_root_of_diagonal(const BlockSpace<T>& space, const DistributedMatrix<T>& a) {
  std::vector<T> roots;
  roots.reserve(a.diagonal().size());
  // Rows that stand alone may have any entry: vectors vanish there.
  for (const double d : a.diagonal()) roots.push_back(d > 0.0 ? static_cast<T>(1.0 / std::sqrt(d)) : T{0});
  Buffer<T> result(space.context().device, roots.size());
  result.upload(roots.data());
  return result;
}

}  // namespace

template <class T>
void look_at_spectrum(BlockSpace<T>& space, DistributedMatrix<T>& a, bool with_mass, const LobpcgOptions& options,
                      MatrixTraits& traits) {
  // Of fewer eigenvalues one vector tells too little. Beside hubs single values lie far before all others, more
  // than so few steps find.
  constexpr double least_rows = 500.0;
  if (options.dense || traits.rows - traits.alone < least_rows || traits.has_hubs()) return;
  if (!with_mass) traits.ends = look_at_ends<T>(space, a, nullptr);
  const bool lower = options.which == Which::smallest && traits.least_diagonal > 0.0;
  if (!lower || !(with_mass || traits.badly_scaled())) return;
  const Buffer<T> scale = inverse_root_of_diagonal(space, a);
  traits.scaled_lower = look_at_ends<T>(space, a, &scale).lower;
}

template void look_at_spectrum(BlockSpace<float>&, DistributedMatrix<float>&, bool, const LobpcgOptions&,
                               MatrixTraits&);
template void look_at_spectrum(BlockSpace<double>&, DistributedMatrix<double>&, bool, const LobpcgOptions&,
                               MatrixTraits&);

}  // namespace block_eigs
