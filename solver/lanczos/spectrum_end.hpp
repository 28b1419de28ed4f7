#pragma once

#include "solver/space/block_space.hpp"
#include "spmm/device/buffer.hpp"
#include "spmm/matrix/linear_operator.hpp"

namespace block_eigs {

/// How eigenvalues are spread towards one end of a spectrum, by the weights of Ritz values of a few steps of
/// Lanczos from a random vector: a Gauss quadrature whose weights are the shares of eigenvalues that its nodes
/// stand for (Golub and Meurant, Matrices, Moments and Quadrature, 2010, chapter 4; Lin, Saad and Yang, SIAM Rev.
/// 58, 2016). The outermost one stands for a share that falls as a power of the steps: of the Laplacian of a mesh
/// of D dimensions as steps^-D, of its square as steps^(-D/2).
struct SpectrumEnd {
  /// Not where the space was exhausted before, nor in float where an eigenvalue was found to rounding errors.
  bool known = false;
  double rows = 0.0;       ///< eigenvalues in all
  double isolated = 0.0;   ///< so far out that each was found as a Ritz value; copies of one counted by its weight
  double share = 0.0;      ///< of all eigenvalues, that the first of the other Ritz values stands for
  double decay = 1.0;      ///< the power, from 1 up: what falls more slowly at first falls faster later
  double outermost = 0.0;  ///< that Ritz value
  double begin = 0.0;      ///< where the others begin, by how it has moved; with an error
  double length = 0.0;     ///< of the spectrum

  /// Steps after which so many eigenvalues, counted from the end, are told from the others.
  double steps_for(double wanted) const;
  /// How far so many eigenvalues lie from where they begin, in parts of that; infinity where they begin at zero,
  /// as far as is known.
  double relative_extent(double wanted) const;
};

enum class End { lower, upper };

/// That end of the spectrum of D A D, D = diag(scale); null stands for D = I. The same for any number of ranks but
/// for rounding errors. Takes `steps_of_look` products with one vector, and as many again, to four times, where
/// one says little: a share that stands for m eigenvalues is off by a factor of 1 +- sqrt(2 / m). Collective;
/// throws on all ranks when one is out of memory.
template <class T>
SpectrumEnd look_at_end(BlockSpace<T>& space, LinearOperator<T>& a, const Buffer<T>* scale, End end);

inline constexpr int steps_of_look = 24;

}  // namespace block_eigs
