#include "io/formats/matrix_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string_view>
#include <vector>

#include "io/files/byte_stream.hpp"
#include "io/files/input_file.hpp"
#include "io/formats/hdf5_matrix.hpp"
#include "io/formats/matrix_market.hpp"
#include "io/formats/npz_matrix.hpp"
#include "io/formats/petsc_binary.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

constexpr std::string_view hdf5_signature = "\x89HDF\r\n\x1a\n";

/// HDF5's signature stands at the start, or after a user block of 512, 1024, 2048, ... bytes, as MATLAB writes
/// one.
bool is_hdf5(const InputFile& file) {
  std::string bytes(hdf5_signature.size(), '\0');
  for (std::int64_t at = 0; at + static_cast<std::int64_t>(bytes.size()) <= file.size();
       at = at == 0 ? 512 : 2 * at) {
    file.read(at, bytes.data(), bytes.size());
    if (bytes == hdf5_signature) return true;
  }
  return false;
}

/// What a file that cannot be read as a matrix looks like, and what to do about it.
std::string guess(const std::string& head) {
  const auto starts = [&](std::string_view text) { return head.starts_with(text); };
  if (head.empty()) return "is empty";
  if (starts("MATLAB 5.0")) return "is a MATLAB file of a version before 7.3; save it with '-v7.3'";
  if (starts("\x93NUMPY")) return "is a dense NumPy array; save the sparse matrix with scipy.sparse.save_npz";
  if (starts("BZh")) return "is compressed by bzip2; gzip is supported";
  if (starts("\xfd"
             "7zXZ"))
    return "is compressed by xz; gzip is supported";
  if (starts("\x28\xb5\x2f\xfd")) return "is compressed by zstd; gzip is supported";
  if (starts(std::string_view("\x50\x7b\x12\x00", 4)))
    return "is a PETSc matrix in little-endian order; PETSc's binary files are big-endian";
  if (starts(std::string_view("\x00\x12\x7b\x4e", 4))) return "is a PETSc vector; a matrix is needed";
  const bool is_text =
      std::all_of(head.begin(), head.end(), [](unsigned char c) { return c >= 32 || std::isspace(c) != 0; });
  if (is_text) return "is a text that does not start with '%%MatrixMarket'";
  return "is in no format that can be read";
}

bool starts_with_banner(std::string head) {
  std::transform(head.begin(), head.end(), head.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return head.starts_with("%%matrixmarket");
}

}  // namespace

FileFormat matrix_file_format(const std::string& path) {
  const InputFile file(path);
  const std::string head = file.head(64);
  if (is_hdf5(file)) return FileFormat::hdf5;
  if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06")) return FileFormat::npz;
  if (starts_with_banner(head) || is_gzip(head)) return FileFormat::matrix_market;
  if (is_petsc_matrix(head)) return FileFormat::petsc_binary;
  throw InputError(fmt::format(
      "{}: {}; matrices are read from HDF5, SciPy .npz, Matrix Market (.mtx, .mtx.gz) and PETSc binary "
      "files",
      file.path(), guess(head)));
}

std::unique_ptr<MatrixSource> open_matrix_file(const Communicator& comm, const std::string& path,
                                               const std::string& dataset) {
  require_readable(comm, path);
  FileFormat format{};
  comm.collectively([&] {
    format = matrix_file_format(path);
    if (dataset.empty() || format == FileFormat::hdf5) return;
    throw InputError(
        fmt::format("{}: holds one matrix without a name; leave out 'dataset' ({}), which is for HDF5 files",
                    absolute_path(path), dataset));
  });
  switch (format) {
    case FileFormat::hdf5:
      return open_hdf5_matrix(comm, path, dataset);
    case FileFormat::npz:
      return open_npz_matrix(comm, path);
    case FileFormat::matrix_market:
      return open_matrix_market(comm, path);
    case FileFormat::petsc_binary:
      break;
  }
  return open_petsc_binary(comm, path);
}

}  // namespace block_eigs
