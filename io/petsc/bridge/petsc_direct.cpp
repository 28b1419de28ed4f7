#include "io/petsc/bridge/petsc_direct.hpp"

#include <utility>

#include "io/petsc/bridge/petsc_dense.hpp"

namespace block_eigs::petsc {

namespace {

template <class T>
class Direct final : public LinearOperator<T> {
 public:
  Direct(const Context<T>& context, std::shared_ptr<Factorization> factors, LocalIndex rows, double sign)
      : blocks_(context, rows), factors_(std::move(factors)), rows_(rows), sign_(sign) {}

  LocalIndex rows() const override { return rows_; }
  LocalIndex columns() const override { return rows_; }

  void apply(ConstBlockView<T> x, BlockView<T> y) override {
    blocks_.give(x);
    factors_->solve(blocks_.given(), blocks_.taken());
    blocks_.take(y, sign_);
  }
  void reserve(LocalIndex columns) override { blocks_.reserve(columns); }

 private:
  DenseBlocks<T> blocks_;
  std::shared_ptr<Factorization> factors_;
  LocalIndex rows_;
  double sign_;
};

}  // namespace

template <class T>
std::unique_ptr<LinearOperator<T>> make_direct(const Context<T>& context, std::shared_ptr<Factorization> factors,
                                               LocalIndex rows, double sign) {
  return std::make_unique<Direct<T>>(context, std::move(factors), rows, sign);
}

template std::unique_ptr<LinearOperator<float>> make_direct(const Context<float>&, std::shared_ptr<Factorization>,
                                                            LocalIndex, double);
template std::unique_ptr<LinearOperator<double>> make_direct(const Context<double>&,
                                                             std::shared_ptr<Factorization>, LocalIndex, double);

}  // namespace block_eigs::petsc
