#include "solver/factors/factor_operator.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include "spmm/matrix/column_copies.hpp"

namespace block_eigs::factors {

namespace {

template <class T>
class FactorOperator final : public LinearOperator<T> {
 public:
  FactorOperator(const Context<T>& context, std::shared_ptr<Factorization> factors, LocalIndex rows, double sign)
      : comm_(context.comm), copies_(context.device), factors_(std::move(factors)), rows_(rows), sign_(sign) {}

  LocalIndex rows() const override { return rows_; }
  LocalIndex columns() const override { return rows_; }

  void apply(ConstBlockView<T> x, BlockView<T> y) override {
    reserve(x.cols);
    copies_.give(x, block_.data());
    factors_->solve(block_.data(), x.cols);
    copies_.take(block_.data(), y, sign_);
  }

  void reserve(LocalIndex columns) override {
    if (columns <= reserved_) return;
    comm_.collectively([&] {
      // One number at least, so that there is an address.
      block_.resize(static_cast<std::size_t>(rows_) * static_cast<std::size_t>(columns) + 1);
    });
    factors_->reserve(columns);
    reserved_ = columns;
  }

 private:
  Communicator comm_;
  ColumnCopies<T> copies_;
  std::shared_ptr<Factorization> factors_;
  LocalIndex rows_;
  double sign_;
  LocalIndex reserved_ = 0;    ///< columns that there is memory for, the same on all ranks
  std::vector<double> block_;  ///< by columns
};

}  // namespace

template <class T>
std::unique_ptr<LinearOperator<T>> make_operator(const Context<T>& context, std::shared_ptr<Factorization> factors,
                                                 LocalIndex rows, double sign) {
  return std::make_unique<FactorOperator<T>>(context, std::move(factors), rows, sign);
}

template std::unique_ptr<LinearOperator<float>> make_operator(const Context<float>&,
                                                              std::shared_ptr<Factorization>, LocalIndex, double);
template std::unique_ptr<LinearOperator<double>> make_operator(const Context<double>&,
                                                               std::shared_ptr<Factorization>, LocalIndex, double);

}  // namespace block_eigs::factors
