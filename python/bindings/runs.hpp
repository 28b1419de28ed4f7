#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace block_eigs::python {

namespace nb = nanobind;

/// What both entries take. Matrices and functions stay Python's, and are kept alive by the caller.
struct Request {
  std::string config;         ///< YAML
  nb::object communicator;    ///< Fortran handle, or None for this process alone
  bool single = false;        ///< in float
  std::int64_t rows = 0;      ///< of this rank
  nb::object a;               ///< (columns, indptr, indices, data, resident), or f(x, y)
  nb::object b;               ///< likewise, or None
  nb::object preconditioner;  ///< f(x, y), or None
  nb::dict blocks;            ///< name: C-contiguous doubles
  nb::object callback;        ///< f(dictionary), or None
  nb::object place;           ///< f(rows, columns), the address of memory for the vectors on a device, or None
};

/// The records of the run in one dictionary, vectors and the exception that ended it early (or None) included.
/// Collective over the communicator; the GIL is released during the work.
nb::dict run_eigsh(const Request& request);
nb::dict run_solve(const Request& request);

}  // namespace block_eigs::python
