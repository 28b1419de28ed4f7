#include "python/bindings/session.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "python/bindings/convert.hpp"
#include "spmm/error.hpp"

namespace block_eigs::python {

void Session::check(const IterationReport& report) {
  if (error_) return;
  try {
    // Python's own handlers run here, for Ctrl-C among others.
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (callback_.is_none()) return;
    nb::dict now;
    now["iteration"] = report.iteration;
    now["converged"] = report.converged;
    now["wanted"] = report.wanted;
    now["active_columns"] = report.active_columns;
    now["worst"] = report.worst;
    now["seconds"] = report.seconds;
    now["eigenvalues"] = array_of(std::vector<double>(report.eigenvalues.begin(), report.eigenvalues.end()));
    now["residual_norms"] =
        array_of(std::vector<double>(report.residual_norms.begin(), report.residual_norms.end()));
    callback_(now);
  } catch (const nb::python_error& error) {
    error_.emplace(error);
  }
}

bool Session::go_on(const IterationReport& report, StopRequest& stop) {
  const nb::gil_scoped_acquire gil;
  check(report);
  if (error_) stop.request(StopCause::caller);
  // Alone there is nobody to wait for.
  return comm_.size() > 1 ? !stop.agreed() : !error_;
}

void Session::call(const std::function<void()>& step) {
  comm_.collectively([&] {
    ask([&] {
      step();
      return std::uintptr_t{0};
    });
  });
}

std::uintptr_t Session::ask(const std::function<std::uintptr_t()>& step) {
  const nb::gil_scoped_acquire gil;
  std::uintptr_t result = 0;
  try {
    if (!error_) result = step();
  } catch (const nb::python_error& error) {
    error_.emplace(error);
  }
  if (error_) throw RunError(fmt::format("a function of the caller raised: {}", error_->what()));
  return result;
}

std::uintptr_t Session::place(const std::function<std::uintptr_t()>& step) {
  const nb::gil_scoped_acquire gil;
  try {
    return step();
  } catch (const nb::python_error&) {
    return 0;
  }
}

nb::object Session::exception() const {
  std::vector<std::int64_t> failed;
  {
    const bool mine = error_.has_value();
    const nb::gil_scoped_release released;
    failed = comm_.all_gather(std::int64_t{mine ? 1 : 0});
  }
  if (error_) return nb::borrow(error_->value());
  const auto first = std::find(failed.begin(), failed.end(), 1);
  if (first == failed.end()) return nb::none();
  const std::string text = fmt::format("an exception on rank {} ended the run", first - failed.begin());
  return nb::borrow(nb::handle(PyExc_RuntimeError))(text.c_str());
}

}  // namespace block_eigs::python
