#include "python/bindings/session.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "python/bindings/convert.hpp"
#include "python/bindings/run_end.hpp"
#include "spmm/error.hpp"

namespace block_eigs::python {

void Session::check(const IterationReport& report) {
  if (error_) return;
  try {
    // Python's own handlers run here, for Ctrl-C among others.
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    check_interpreter();
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
    calls_ = error.matches(PyExc_KeyboardInterrupt);
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
    if (calls_) result = step();
  } catch (const nb::python_error& error) {
    error_.emplace(error);
    calls_ = false;
  }
  if (!calls_) throw RunError(fmt::format("a function of the caller raised: {}", error_->what()));
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
  enum : std::int64_t { nothing, error, interrupt };
  std::vector<std::int64_t> found;
  {
    const std::int64_t mine = !error_ ? nothing : error_->matches(PyExc_KeyboardInterrupt) ? interrupt : error;
    const nb::gil_scoped_release released;
    found = comm_.all_gather(mine);
  }
  if (error_) return nb::borrow(error_->value());
  const auto in_place_of = [&found](std::int64_t kind, PyObject* type, const char* what) -> nb::object {
    const auto first = std::find(found.begin(), found.end(), kind);
    if (first == found.end()) return nb::none();
    const std::string text = fmt::format("{} on rank {} ended the run", what, first - found.begin());
    return nb::borrow(nb::handle(type))(text.c_str());
  };
  const nb::object failure = in_place_of(error, PyExc_RuntimeError, "an exception");
  return failure.is_none() ? in_place_of(interrupt, PyExc_KeyboardInterrupt, "Ctrl-C") : failure;
}

}  // namespace block_eigs::python
