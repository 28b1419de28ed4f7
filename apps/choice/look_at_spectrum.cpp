#include "apps/choice/look_at_spectrum.hpp"

#include <cmath>
#include <vector>

namespace block_eigs {

namespace {

/// D^-1/2 in device memory, 1 for rows that were taken out, which have no positive entry. Collective; throws on
/// all ranks when one is out of memory.
template <class T>
Buffer<T> inverse_root_of_diagonal(const BlockSpace<T>& space, const DistributedMatrix<T>& a) {
  Buffer<T> result;
  space.context().comm.collectively([&] {
    std::vector<T> roots;
    roots.reserve(a.diagonal().size());
    for (const double d : a.diagonal()) roots.push_back(d > 0.0 ? static_cast<T>(1.0 / std::sqrt(d)) : T{1});
    result = Buffer<T>(space.context().device, roots.size());
    result.upload(roots.data());
  });
  return result;
}

}  // namespace

template <class T>
void look_at_spectrum(BlockSpace<T>& space, DistributedMatrix<T>& a, bool with_mass, const LobpcgOptions& options,
                      MatrixTraits& traits) {
  // Of fewer eigenvalues a few vectors tell too little. Beside hubs single values lie far before all others, more
  // than so few steps find.
  constexpr double least_rows = 500.0;
  if (options.dense || traits.rows - traits.alone < least_rows || traits.has_hubs()) return;
  const End wanted = options.which == Which::smallest ? End::lower : End::upper;
  if (!with_mass) traits.wanted_end = look_at_end<T>(space, a, nullptr, wanted);
  // Constraints may keep at work rows that stand alone without a positive diagonal entry.
  const bool positive = traits.least_diagonal > 0.0 && !traits.null_rows;
  if (wanted != End::lower || !positive || !(with_mass || traits.badly_scaled())) return;
  const Buffer<T> scale = inverse_root_of_diagonal(space, a);
  traits.scaled_lower = look_at_end<T>(space, a, &scale, End::lower);
}

template void look_at_spectrum(BlockSpace<float>&, DistributedMatrix<float>&, bool, const LobpcgOptions&,
                               MatrixTraits&);
template void look_at_spectrum(BlockSpace<double>&, DistributedMatrix<double>&, bool, const LobpcgOptions&,
                               MatrixTraits&);

}  // namespace block_eigs
