// The module block_eigs._core: arrays and functions in, dictionaries out. What users see is in python/block_eigs.
#include <nanobind/nanobind.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>

#include "apps/in_memory/mpi_runtime.hpp"
#include "apps/report/text.hpp"
#include "python/bindings/run_end.hpp"
#include "python/bindings/runs.hpp"
#include "spmm/error.hpp"

namespace nb = nanobind;

namespace {

using block_eigs::python::Request;

/// Python's own exceptions for ours.
void translate(const std::exception_ptr& pointer, void* /*payload*/) {
  try {
    std::rethrow_exception(pointer);
  } catch (const block_eigs::Error& error) {
    PyObject* const type = error.of_memory()                                          ? PyExc_MemoryError
                           : error.exit_code() == block_eigs::ExitCode::invalid_input ? PyExc_ValueError
                                                                                      : PyExc_RuntimeError;
    PyErr_SetString(type, error.what());
  }
}

template <auto Run>
nb::dict entry(const std::string& config, nb::object communicator, bool single, std::int64_t rows, nb::object a,
               nb::object b, nb::object preconditioner, nb::dict blocks, nb::object callback, nb::object place) {
  return Run(Request{config, std::move(communicator), single, rows, std::move(a), std::move(b),
                     std::move(preconditioner), std::move(blocks), std::move(callback), std::move(place)});
}

}  // namespace

NB_MODULE(_core, module) {
  using nb::literals::operator""_a;
  nb::register_exception_translator(translate);
  module.attr("__version__") = block_eigs::version();
  module.def("eigsh", entry<block_eigs::python::run_eigsh>, "config"_a, "communicator"_a.none(), "single"_a,
             "rows"_a, "a"_a, "b"_a.none(), "preconditioner"_a.none(), "blocks"_a, "callback"_a.none(),
             "place"_a.none());
  module.def("solve", entry<block_eigs::python::run_solve>, "config"_a, "communicator"_a.none(), "single"_a,
             "rows"_a, "a"_a, "b"_a.none(), "preconditioner"_a.none(), "blocks"_a, "callback"_a.none(),
             "place"_a.none());
  module.def("start_mpi", block_eigs::start_mpi);
  module.def("forget_variables_of_mpi", block_eigs::forget_variables_of_mpi);
  // Only where this package has started MPI; whoever started it otherwise ends it. In C, for packages that are
  // loaded later and still need MPI at their end, as petsc4py, end themselves so: the last one first.
  Py_AtExit([] {
    if (!block_eigs::python::runs_are_at_work()) block_eigs::end_mpi();
  });
  module.def("end_runs", block_eigs::python::end_runs);
  nb::module_::import_("atexit").attr("register")(module.attr("end_runs"));
  module.def("mpi_library_version", block_eigs::mpi_library_version);
}
