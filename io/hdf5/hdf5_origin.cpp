#include "io/hdf5/hdf5_origin.hpp"

#include <fmt/format.h>
#include <hdf5.h>
#include <sys/stat.h>

#include <cstddef>
#include <string>

#include "io/hdf5/hdf5_handle.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

std::string path_of_file(std::int64_t object) {
  const ssize_t length = H5Fget_name(object, nullptr, 0);
  if (length < 0) return {};
  std::string path(static_cast<std::size_t>(length) + 1, '\0');
  H5Fget_name(object, path.data(), path.size());
  path.pop_back();
  return path;
}

namespace {

/// Other drivers, which the environment may choose, have no file descriptor.
bool has_descriptor(const Hdf5Handle& file) {
  const Hdf5Handle access(H5Fget_access_plist(file.id()), H5Pclose);
  return !access.valid() || H5Pget_driver(access.id()) == H5FD_SEC2;
}

/// -1 where it cannot be told.
int descriptor_of(const Hdf5Handle& file) {
  void* descriptor = nullptr;
  const bool known = H5Fget_vfd_handle(file.id(), H5P_DEFAULT, &descriptor) >= 0 && descriptor != nullptr;
  return known ? *static_cast<const int*>(descriptor) : -1;
}

}  // namespace

bool is_open_in(std::int64_t object, const InputFile& same) {
  const Hdf5Handle file(H5Iget_file_id(object), H5Fclose);
  return has_descriptor(file) && same.is_what_is_open(descriptor_of(file));
}

void require_not_shrunk(std::int64_t object) {
  const Hdf5Handle file(H5Iget_file_id(object), H5Fclose);
  if (!has_descriptor(file)) return;
  hsize_t opened = 0;  // with this many bytes
  struct stat now {};
  const bool known = H5Fget_filesize(file.id(), &opened) >= 0 && ::fstat(descriptor_of(file), &now) == 0;
  const std::string path = path_of_file(object);
  require(known, fmt::format("{}: how long it is cannot be told", path));
  require(
      static_cast<hsize_t>(now.st_size) >= opened,
      fmt::format("{}: has {} bytes and had {} when it was opened: it was cut off, or written anew, while it was "
                  "read",
                  path, now.st_size, opened));
}

}  // namespace block_eigs
