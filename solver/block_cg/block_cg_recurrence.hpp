#pragma once

#include <utility>
#include <vector>

#include "spmm/small_matrix.hpp"

namespace block_eigs {

/// The small matrices of BCGrQ (Dubrulle, ETNA 12, 2001, with an inner product x^T M^-1 y in which Q is
/// orthonormal): pure arithmetic on Gram matrices, done on rank 0. The tall blocks are
///   Q'  as stored; Q = Q' T are its orthonormal columns and R = Q C the residuals; Z' = M^-1 Q';
///   S   the directions, with S^T Q = I.
/// Q is never formed: T goes into the coefficients of the next update.
class BlockCgRecurrence {
 public:
  /// `epsilon` of the tall blocks' arithmetic.
  explicit BlockCgRecurrence(double epsilon) : epsilon_(epsilon) {}

  /// A new round: Q' = R, one column a right-hand side. Right-hand sides are done when the norms of their
  /// residuals are below `limits`; `floors` are norms that are out of reach.
  void restart(std::vector<double> limits, std::vector<double> floors, std::vector<bool> active);

  /// From S^T A S, further columns of `products` apart: the coefficients [T; -Xi] of Q' <- Q' T - A S Xi, Xi =
  /// (S^T A S)^-1. Without columns where S^T A S is not positive definite within rounding.
  SmallMatrix residual_update(const SmallMatrix& products);

  /// From Q'^T [Z' Q'] (Q'^T Q' alone where M is the identity): norms of the residuals, T and C. Returns true when
  /// done; else Q' has nearly dependent columns: replace it by Q' rebasing() and call again with its products.
  /// Throws RunError when Q'^T M^-1 Q' is not positive definite.
  bool factorise(const SmallMatrix& products);
  const SmallMatrix& rebasing() const { return rebasing_; }

  /// Right-hand sides whose norm has come down to its limit leave, and directions that no other needs with them.
  void narrow();

  /// Right-hand sides that are still at work, where others than narrow() decide.
  void set_active(std::vector<bool> active) { active_ = std::move(active); }

  /// Coefficients of [X S] <- [X S Z'] (...) after residual_update and factorise; of S <- Z' T after restart.
  SmallMatrix direction_update() const;

  /// False once a product was not finite: nothing else is valid then.
  bool finite() const { return finite_; }
  const std::vector<double>& norms() const { return norms_; }
  const std::vector<bool>& active() const { return active_; }
  /// C, directions x right-hand sides: also S^T R.
  const SmallMatrix& components() const { return components_; }

 private:
  void measure(const SmallMatrix& products);
  std::vector<int> worth_keeping(const SmallMatrix& products) const;
  SmallMatrix weighted_components() const;
  void rotate(const SmallMatrix& rotation);

  double epsilon_;
  std::vector<double> limits_;
  std::vector<double> floors_;
  std::vector<double> dropped_;  ///< norms of what has left the residuals with dropped directions
  std::vector<bool> active_;
  std::vector<double> norms_;
  SmallMatrix components_;  ///< C
  SmallMatrix transform_;   ///< T
  SmallMatrix factor_;      ///< zeta of Q' = Q zeta: takes the old C to the new one, and, transposed, S along
  SmallMatrix step_;        ///< Xi C, zero for right-hand sides that are done
  SmallMatrix rebasing_;
  int passes_ = 0;
  int since_ranking_ = 0;
  bool fresh_ = false;
  bool finite_ = true;
};

}  // namespace block_eigs
