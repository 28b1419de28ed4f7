#pragma once

#include <map>
#include <string>
#include <vector>

#include "spmm/matrix/csr_matrix.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs::bench {

/// One line of a case file: a matrix and how it is made.
struct SpmmCase {
  std::string group;
  std::string name;
  std::string kind;
  std::map<std::string, std::string> options;
  std::string where;  ///< "file:line", for messages
};

/// Throws InputError that names the file and line.
std::vector<SpmmCase> read_spmm_cases(const std::string& path);

/// Makes the matrix by the generators of io, or reads it from `matrices`, a folder of Matrix Market files. `comm`
/// has one rank. Kinds beside those of io/generate/generate.hpp: dense (rows, columns), random_fill (rows,
/// columns, fill: an entry in every stretch of 1 / fill columns), file (name). Throws InputError where an option
/// is missing or no number.
CsrArrays<double> make_spmm_matrix(const Communicator& comm, const SpmmCase& one, const std::string& matrices);

/// The same matrix in another precision.
template <class T>
std::vector<T> converted(const std::vector<double>& values) {
  return std::vector<T>(values.begin(), values.end());
}

}  // namespace block_eigs::bench
