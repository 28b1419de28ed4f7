#pragma once

#include "spmm/matrix/linear_operator.hpp"

namespace block_eigs {

/// A and a preconditioner of it in float, on the same rows as in double.
struct FloatOperators {
  LinearOperator<float>* a = nullptr;
  LinearOperator<float>* preconditioner = nullptr;  ///< null is the identity
};

}  // namespace block_eigs
