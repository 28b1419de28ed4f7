#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "python/bindings/session.hpp"
#include "spmm/matrix/linear_operator.hpp"

namespace block_eigs::python {

/// An operator that is a Python function f(x, y): it fills y, own rows x columns, from x of the same shape. Both
/// are NumPy views of the solver's memory, which is the host's, and valid during the call alone. Any rank's
/// exception ends the run on all.
template <class T>
class PythonOperator final : public LinearOperator<T> {
 public:
  /// `function` and `session` must outlive it: it is used, moved and destroyed without the GIL.
  PythonOperator(Session& session, nb::handle function, LocalIndex rows)
      : session_(session), function_(function), rows_(rows) {}

  LocalIndex rows() const override { return rows_; }
  LocalIndex columns() const override { return rows_; }

  void apply(ConstBlockView<T> x, BlockView<T> y) override {
    session_.call([&] {
      const auto rows = static_cast<std::size_t>(x.rows);
      const auto cols = static_cast<std::size_t>(x.cols);
      const nb::ndarray<nb::numpy, const T, nb::ndim<2>> from(x.data, {rows, cols}, nb::handle(), {x.stride, 1});
      const nb::ndarray<nb::numpy, T, nb::ndim<2>> to(y.data, {rows, cols}, nb::handle(), {y.stride, 1});
      function_(nb::cast(from, nb::rv_policy::reference), nb::cast(to, nb::rv_policy::reference));
    });
  }

 private:
  Session& session_;
  nb::handle function_;
  LocalIndex rows_;
};

}  // namespace block_eigs::python
