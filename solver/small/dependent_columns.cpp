#include "solver/small/dependent_columns.hpp"

#include <cmath>

namespace block_eigs {

std::vector<bool> dependent_columns(const SmallMatrix& gram) {
  std::vector<bool> dependent;
  std::vector<int> independent;
  // The upper triangle of the Cholesky factor of the independent columns; (k, j) of a dependent j, too.
  SmallMatrix factor(gram.rows(), gram.cols());
  for (int j = 0; j < gram.cols(); ++j) {
    double left = gram(j, j);
    for (const int k : independent) {
      double sum = gram(k, j);
      for (const int i : independent) {
        if (i == k) break;
        sum -= factor(i, k) * factor(i, j);
      }
      factor(k, j) = sum / factor(k, k);
      left -= factor(k, j) * factor(k, j);
    }
    dependent.push_back(!(left > (1.0 - most_along_earlier) * gram(j, j)));
    if (dependent.back()) continue;
    factor(j, j) = std::sqrt(left);
    independent.push_back(j);
  }
  return dependent;
}

}  // namespace block_eigs
