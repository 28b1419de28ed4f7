#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "solver/report.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/stop_request.hpp"

namespace block_eigs::python {

namespace nb = nanobind;

/// What Python has to say while a run is under way without the GIL: signals, and exceptions of functions that the
/// caller handed in. An exception is kept, and ends the run on all ranks.
class Session {
 public:
  /// `callback` is called after every iteration with a dictionary, unless it is None. Needs the GIL, as does the
  /// destructor.
  Session(Communicator comm, nb::object callback) : comm_(std::move(comm)), callback_(std::move(callback)) {}

  /// For the solver's question after every iteration. An exception is a wish of this rank that the run ends, which
  /// the others learn of by way of `stop`, an iteration later. Takes the GIL; not collective.
  bool go_on(const IterationReport& report, StopRequest& stop);
  /// Runs `step`, which may call Python, with the GIL. Where Python raises on any rank all ranks throw, the
  /// exception being kept. Collective.
  void call(const std::function<void()>& step);

  /// What `step`, which may call Python, returns, with the GIL; throws where Python raises, the exception being
  /// kept. Not collective.
  std::uintptr_t ask(const std::function<std::uintptr_t()>& step);

  /// The same for memory that results may go to, also where the caller has raised before: 0 where Python raises,
  /// and nothing is kept. Not collective.
  static std::uintptr_t place(const std::function<std::uintptr_t()>& step);

  const Communicator& comm() const { return comm_; }
  /// The exception of this rank, one in its place where another rank has one (KeyboardInterrupt where that is
  /// Ctrl-C and no more), or None. Collective; needs the GIL.
  nb::object exception() const;
  /// Throws the exception of this rank, if it has one. Needs the GIL.
  void raise_own() const {
    if (error_) throw nb::python_error(*error_);
  }

 private:
  void check(const IterationReport& report);

  Communicator comm_;
  nb::object callback_;
  std::optional<nb::python_error> error_;
  /// Functions of the caller are called. Also after Ctrl-C: results need products, their residuals' at last.
  bool calls_ = true;
};

}  // namespace block_eigs::python
