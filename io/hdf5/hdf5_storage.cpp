#include "io/hdf5/hdf5_storage.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <hdf5.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "io/hdf5/hdf5_errors.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// HDF5's own part of the file: far more than the few objects of a file need.
constexpr std::int64_t metadata_bytes = 65536;

Hdf5Handle space_of(std::span<const std::int64_t> shape) {
  if (shape.empty()) return {H5Screate(H5S_SCALAR), H5Sclose};
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  return {H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose};
}

/// h5py's bool.
Hdf5Handle bool_type() {
  Hdf5Handle type(H5Tenum_create(H5T_NATIVE_INT8), H5Tclose);
  const std::int8_t no = 0;
  const std::int8_t yes = 1;
  const bool good = H5Tenum_insert(type.id(), "FALSE", &no) >= 0 && H5Tenum_insert(type.id(), "TRUE", &yes) >= 0;
  return good ? std::move(type) : Hdf5Handle();
}

constexpr std::size_t variable_length = H5T_VARIABLE;

/// UTF-8. Attributes of variable length come out of h5py as str, datasets of fixed length as an array of bytes.
Hdf5Handle text_type(std::size_t length) {
  Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  const bool good = H5Tset_size(type.id(), length) >= 0 && H5Tset_cset(type.id(), H5T_CSET_UTF8) >= 0 &&
                    (length == variable_length || H5Tset_strpad(type.id(), H5T_STR_NULLPAD) >= 0);
  return good ? std::move(type) : Hdf5Handle();
}

/// For links to objects in groups that are made with them.
Hdf5Handle links_with_groups() {
  Hdf5Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  return H5Pset_create_intermediate_group(links.id(), 1) >= 0 ? std::move(links) : Hdf5Handle();
}

/// One piece of the file; of a large dataset the place is known at once, and nothing is written there.
Hdf5Handle in_one_piece(bool large) {
  Hdf5Handle storage(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  bool good = H5Pset_layout(storage.id(), H5D_CONTIGUOUS) >= 0;
  if (large)
    good = good && H5Pset_alloc_time(storage.id(), H5D_ALLOC_TIME_EARLY) >= 0 &&
           H5Pset_fill_time(storage.id(), H5D_FILL_TIME_NEVER) >= 0;
  return good ? std::move(storage) : Hdf5Handle();
}

std::int64_t product(const Hdf5Storage::Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

hid_t type_of(Hdf5Element element) {
  switch (element) {
    case Hdf5Element::float32:
      return H5T_NATIVE_FLOAT;
    case Hdf5Element::float64:
      return H5T_NATIVE_DOUBLE;
    case Hdf5Element::int32:
      return H5T_NATIVE_INT32;
    case Hdf5Element::int64:
      return H5T_NATIVE_INT64;
  }
  return H5I_INVALID_HID;
}

/// Makes a file in memory, or, where that is not allowed (containers, chroots), in the folder for temporary files
/// or in that of `beside`; `path` is its name then. A negative number where none can be made.
int make_scratch(std::string& path, const std::string& beside) {
  const char* temporary = std::getenv("TMPDIR");
  const std::string folders[] = {"/dev/shm/", std::string(temporary != nullptr ? temporary : "/tmp") + "/",
                                 beside.substr(0, beside.rfind('/') + 1)};
  int descriptor = -1;
  for (const std::string& folder : folders) {
    path = folder + "block_eigs_XXXXXX";
    descriptor = ::mkostemp(path.data(), O_CLOEXEC);
    if (descriptor >= 0) break;
  }
  return descriptor;
}

}  // namespace

Hdf5Storage::Hdf5Storage(std::string path, std::string name)
    : path_(std::move(path)), name_(std::move(name)), memory_(make_scratch(memory_path_, path_)) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  if (!memory_.ok()) fail("making a file in /dev/shm, the folder for temporary files, or beside the result");
  // HDF5 opens files by name, and not through links, as a memfd would be. The name goes at once, whatever follows.
  file_ = Hdf5Handle(H5Fcreate(memory_path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  ::unlink(memory_path_.c_str());
  check(file_.valid(), "creating the file failed");
  if (!OpenFile(path_, O_WRONLY | O_CREAT | O_TRUNC).ok()) fail("making a file");
}

void Hdf5Storage::check(bool ok, const std::string& what) const {
  if (!ok) throw RunError(fmt::format("{}: {}: {}", name_, what, hdf5_failure()));
}

/// With the system's last error.
void Hdf5Storage::fail(const std::string& what) const {
  throw RunError(fmt::format("{}: {} failed: {}", name_, what, std::strerror(errno)));
}

/// A limit on the size of files holds in memory too: it must be met before HDF5 runs into it.
void Hdf5Storage::require_allowed(std::int64_t more) const {
  hsize_t size = 0;
  rlimit limit{};
  if (H5Fget_filesize(file_.id(), &size) < 0 || ::getrlimit(RLIMIT_FSIZE, &limit) != 0) return;
  const auto end = size + static_cast<hsize_t>(more + metadata_bytes);
  if (limit.rlim_cur == RLIM_INFINITY || end <= limit.rlim_cur) return;
  errno = EFBIG;
  fail("writing");
}

void Hdf5Storage::group(const std::string& name) const {
  const Hdf5Handle links = links_with_groups();
  const Hdf5Handle made(H5Gcreate2(file_.id(), name.c_str(), links.id(), H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
  check(made.valid(), "creating group " + name + " failed");
}

void Hdf5Storage::put_attribute(const std::string& object, const std::string& name, std::int64_t type,
                                std::span<const std::int64_t> shape, const void* value) const {
  const Hdf5Handle space = space_of(shape);
  const Hdf5Handle made(H5Acreate_by_name(file_.id(), object.c_str(), name.c_str(), type, space.id(), H5P_DEFAULT,
                                          H5P_DEFAULT, H5P_DEFAULT),
                        H5Aclose);
  check(made.valid() && H5Awrite(made.id(), type, value) >= 0, "writing attribute " + name + " failed");
}

void Hdf5Storage::attribute(const std::string& object, const std::string& name, const std::string& text) const {
  const char* first = text.c_str();
  put_attribute(object, name, text_type(variable_length).id(), {}, &first);
}
void Hdf5Storage::attribute(const std::string& object, const std::string& name, double value) const {
  put_attribute(object, name, H5T_NATIVE_DOUBLE, {}, &value);
}
void Hdf5Storage::attribute(const std::string& object, const std::string& name, std::int64_t value) const {
  put_attribute(object, name, H5T_NATIVE_INT64, {}, &value);
}
void Hdf5Storage::attribute(const std::string& object, const std::string& name, bool value) const {
  const std::int8_t byte = value ? 1 : 0;
  put_attribute(object, name, bool_type().id(), {}, &byte);
}
void Hdf5Storage::attribute(const std::string& object, const std::string& name,
                            std::span<const std::int64_t> values) const {
  put_attribute(object, name, H5T_NATIVE_INT64, Shape{std::ssize(values)}, values.data());
}

Hdf5Handle Hdf5Storage::create(const std::string& name, const Shape& shape, std::int64_t type, bool large) const {
  require_allowed(product(shape) * static_cast<std::int64_t>(H5Tget_size(type)));
  const Hdf5Handle links = links_with_groups();
  const Hdf5Handle storage = in_one_piece(large);
  const Hdf5Handle space = space_of(shape);
  Hdf5Handle made(H5Dcreate2(file_.id(), name.c_str(), type, space.id(), links.id(), storage.id(), H5P_DEFAULT),
                  H5Dclose);
  check(made.valid(), "creating dataset " + name + " failed");
  return made;
}

void Hdf5Storage::put_dataset(const std::string& name, const Shape& shape, std::int64_t type,
                              const void* values) const {
  const Hdf5Handle made = create(name, shape, type, false);
  const bool empty = product(shape) == 0;
  check(empty || H5Dwrite(made.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0,
        "writing dataset " + name + " failed");
}

void Hdf5Storage::dataset(const std::string& name, const Shape& shape, std::span<const double> values) const {
  put_dataset(name, shape, H5T_NATIVE_DOUBLE, values.data());
}
void Hdf5Storage::dataset(const std::string& name, const Shape& shape,
                          std::span<const std::int64_t> values) const {
  put_dataset(name, shape, H5T_NATIVE_INT64, values.data());
}
void Hdf5Storage::dataset(const std::string& name, const std::vector<bool>& values) const {
  const std::vector<std::int8_t> bytes(values.begin(), values.end());
  put_dataset(name, {std::ssize(bytes)}, bool_type().id(), bytes.data());
}
void Hdf5Storage::dataset(const std::string& name, const std::vector<std::string>& texts) const {
  std::size_t length = 1;
  for (const std::string& text : texts) length = std::max(length, text.size());
  std::string bytes;
  for (const std::string& text : texts) bytes += text + std::string(length - text.size(), '\0');
  put_dataset(name, {std::ssize(texts)}, text_type(length).id(), bytes.data());
}

std::int64_t Hdf5Storage::place(const std::string& name, const Shape& shape, Hdf5Element element) {
  const Hdf5Handle made = create(name, shape, type_of(element), true);
  if (product(shape) == 0) return 0;
  const auto size = static_cast<std::int64_t>(H5Dget_storage_size(made.id()));
  const haddr_t address = H5Dget_offset(made.id());
  check(size > 0 && address != HADDR_UNDEF, "placing dataset " + name + " failed");
  const auto first = static_cast<std::int64_t>(address);
  const OpenFile disk(path_, O_WRONLY);
  const bool room = ::fallocate(disk.descriptor(), FALLOC_FL_KEEP_SIZE, 0, first + size + metadata_bytes) == 0;
  if (!room && errno != EOPNOTSUPP && errno != ENOSYS) {
    throw RunError(fmt::format("{}: no room for dataset {} of {:.1f} MB: {}", name_, name,
                               static_cast<double>(size) * 1e-6, std::strerror(errno)));
  }
  placed_.emplace_back(first, first + size);
  return first;
}

/// Bytes [from, to) of what is in memory, holes left out.
void Hdf5Storage::copy_to_disk(const OpenFile& disk, std::int64_t from, std::int64_t to) const {
  std::vector<std::byte> piece(1 << 20);
  const auto next = [&](off_t place, int what) {
    const off_t found = ::lseek(memory_.descriptor(), place, what);
    if (found < 0 && errno != ENXIO) fail("reading it in memory");
    return found;  // below 0 where there is no more data
  };
  for (off_t at = next(from, SEEK_DATA); at >= 0 && at < to; at = next(at, SEEK_DATA)) {
    const off_t stop = std::min<off_t>(next(at, SEEK_HOLE), to);
    while (at < stop) {
      const auto most = static_cast<std::size_t>(std::min<off_t>(stop - at, std::ssize(piece)));
      const ssize_t count = ::pread(memory_.descriptor(), piece.data(), most, at);
      if (count < 0 && errno == EINTR) continue;
      if (count == 0) errno = EIO;  // it has an end that nothing has written
      if (count <= 0) fail("reading it in memory");
      if (!disk.write_at(at, std::span(piece).first(static_cast<std::size_t>(count)))) fail("writing");
      at += count;
    }
  }
}

void Hdf5Storage::save() {
  check(file_.close(), "writing failed");
  const OpenFile disk(path_, O_WRONLY);
  if (!disk.ok()) fail("writing");
  const off_t end = ::lseek(memory_.descriptor(), 0, SEEK_END);
  if (end < 0) fail("reading it in memory");
  std::sort(placed_.begin(), placed_.end());
  std::int64_t from = 0;
  for (const auto& [first, last] : placed_) {
    copy_to_disk(disk, from, first);
    from = last;
  }
  copy_to_disk(disk, from, end);
  if (::ftruncate(disk.descriptor(), end) != 0 || ::fsync(disk.descriptor()) != 0) fail("writing");
}

}  // namespace block_eigs
