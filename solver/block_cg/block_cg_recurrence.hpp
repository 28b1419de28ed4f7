#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "solver/checkpoint.hpp"
#include "spmm/small_matrix.hpp"

namespace block_eigs {

/// The small matrices of BCGrQ (Dubrulle, ETNA 12, 2001, with an inner product x^T M^-1 y in which Q is
/// orthonormal): pure arithmetic on Gram matrices. The tall blocks are
///   Q'  as stored; Q = Q' T are its orthonormal columns and R = Q C the residuals; Z' = M^-1 Q';
///   S   the directions, with S^T Q = I, but for what M^-1 lacks of symmetry.
/// Q is never formed: T goes into the coefficients of the next update. Where M^-1 is not quite symmetric
/// (multigrid in float, say), S^T Q = E is not I; E is known, and steps take it into account.
class BlockCgRecurrence {
 public:
  /// A right-hand side: what its residual may have left, and how it stands.
  struct Side {
    double limit = 0.0;  ///< it is done when the norm of its residual is no larger
    double floor = 0.0;  ///< a norm that is out of reach
    bool active = true;
    double norm = 0.0;     ///< of the residual
    double dropped = 0.0;  ///< norm of what has left the residual with dropped directions; part of `norm`
  };

  /// What factorise() has found. But for the first two nothing else is valid until restart().
  enum class Result {
    orthonormal,        ///< T and C are there
    nearly_dependent,   ///< replace Q' by Q' rebasing() and call again with its products
    not_positive,       ///< Q'^T M^-1 Q' is not positive definite, by inner_square()
    not_finite,         ///< a residual was not finite
    inverse_not_finite  ///< a residual was, but its image under M^-1 was not
  };

  /// `epsilon` of the tall blocks' arithmetic.
  explicit BlockCgRecurrence(double epsilon) : epsilon_(epsilon) {}

  /// A new round: Q' = R, one column a right-hand side, C = I; no directions.
  void restart(std::vector<Side> sides);

  /// From S^T A S, further columns of `products` apart: the coefficients [T; -Xi E] of Q' <- Q' T - A S Xi E,
  /// Xi = (S^T A S)^-1 and E = S^T Q. Without columns where S^T A S is not positive definite within rounding.
  SmallMatrix residual_update(const SmallMatrix& products);

  /// From Q'^T [Z' Q'] (Q'^T Q' alone where M is the identity): norms of the residuals, T and C.
  Result factorise(const SmallMatrix& products);
  const SmallMatrix& rebasing() const { return rebasing_; }
  /// After not_positive: r^T M^-1 r for a combination r of residuals, relative to that of others.
  double inner_square() const { return inner_square_; }

  /// Right-hand sides whose norm has come down to its limit leave, and directions that no other needs with them.
  void narrow();

  /// Right-hand sides that are still at work, where others than narrow() decide.
  void set_active(const std::vector<bool>& active);

  /// Coefficients of [X S] <- [X S Z'] (...) after residual_update and factorise; of S <- Z' T after restart.
  SmallMatrix direction_update();

  const std::vector<Side>& sides() const { return sides_; }
  /// C, directions x right-hand sides: also S^T R.
  const SmallMatrix& components() const { return components_; }
  /// S^T M S, M never being applied: I + zeta (S^T M S) zeta^T for the next S, as S^T Q = 0 for the next Q.
  const SmallMatrix& weights() const { return weights_; }

  /// All of it as numbers whose names begin with `prefix`, and back; limits of right-hand sides stay as they were
  /// where these are larger.
  void save(const std::string& prefix, SavedNumbers& numbers) const;
  void restore(const std::string& prefix, const SavedNumbers& numbers);

 private:
  static const std::array<SmallMatrix BlockCgRecurrence::*, 9> matrices;

  bool measure(const SmallMatrix& products);
  std::vector<int> beyond_rounding(const SmallMatrix& products) const;
  std::vector<double> lost_with(const SmallMatrix& rotation) const;
  SmallMatrix weighted_components() const;
  SmallMatrix alignment_of_basis() const;
  void rotate(const SmallMatrix& rotation, const std::vector<double>& lost);
  bool has_directions() const { return step_.cols() > 0; }

  double epsilon_;
  std::vector<Side> sides_;
  SmallMatrix components_;  ///< C
  SmallMatrix transform_;   ///< T
  SmallMatrix factor_;      ///< zeta of Q' = Q zeta: takes the old C to the new one, and, transposed, S along
  SmallMatrix gram_;        ///< Q'^T M^-1 Q', as measured
  SmallMatrix alignment_;   ///< E = S^T Q; empty where that is I
  SmallMatrix step_;        ///< Xi E C, zero for right-hand sides that are done; no columns before the first step
  SmallMatrix rebasing_;
  SmallMatrix squares_;  ///< Q'^T Q'
  SmallMatrix weights_;  ///< S^T M S
  double inner_square_ = 0.0;
  int passes_ = 0;  ///< of orthonormalisation in this iteration
  int since_ranking_ = 0;
};

}  // namespace block_eigs
