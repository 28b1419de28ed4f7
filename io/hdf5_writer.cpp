#include "io/hdf5_writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <hdf5.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "io/hdf5_handle.hpp"
#include "io/output_path.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// What HDF5 says of its last failure: the innermost entry of its error stack.
std::string hdf5_reason() {
  std::string text;
  const H5E_walk2_t visit = [](unsigned n, const H5E_error2_t* entry, void* result) -> herr_t {
    if (n == 0 && entry->desc != nullptr) *static_cast<std::string*>(result) = entry->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, visit, &text);
  return text.empty() ? "HDF5 gives no reason" : text;
}

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
  H5Tenum_insert(type.id(), "FALSE", &no);
  H5Tenum_insert(type.id(), "TRUE", &yes);
  return type;
}

constexpr std::size_t variable_length = H5T_VARIABLE;

/// UTF-8. Attributes of variable length come out of h5py as str, datasets of fixed length as an array of bytes.
Hdf5Handle text_type(std::size_t length) {
  Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), length);
  if (length != variable_length) H5Tset_strpad(type.id(), H5T_STR_NULLPAD);
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  return type;
}

std::int64_t product(const Hdf5Writer::Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

void write_at(int file, std::int64_t offset, std::span<const std::byte> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(file, bytes.data(), std::min(bytes.size(), std::size_t{1} << 30), offset);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw RunError(fmt::format("{}: writing failed: {}", path, std::strerror(errno)));
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += put;
  }
}

}  // namespace

/// What rank 0 writes with HDF5: the whole file but for the contents of large datasets, which are holes. It grows in
/// memory, for HDF5 cannot end in good order once a write to a full disk has failed; `save` puts it on the disk.
/// Functions throw RunError.
class Hdf5Writer::Storage {
 public:
  Storage(std::string path, std::string name) : path_(std::move(path)), name_(std::move(name)) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    // HDF5 opens files by name, and not through links, as a memfd would be.
    std::string in_memory = "/dev/shm/block_eigs_XXXXXX";
    memory_ = ::mkostemp(in_memory.data(), O_CLOEXEC);
    if (memory_ < 0) fail("making a file in /dev/shm");
    file_ = H5Fcreate(in_memory.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    ::unlink(in_memory.c_str());
    check(file_ >= 0, "creating the file failed");
    const OpenFile made(path_, O_WRONLY | O_CREAT | O_TRUNC);
    if (!made.ok()) fail("making a file");
  }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  ~Storage() {
    if (file_ >= 0) H5Fclose(file_);
    if (memory_ >= 0) ::close(memory_);
  }

  hid_t id() const { return file_; }

  void check(bool ok, const std::string& what) const {
    if (!ok) throw RunError(fmt::format("{}: {}: {}", name_, what, hdf5_reason()));
  }
  /// With the system's last error.
  [[noreturn]] void fail(const std::string& what) const {
    throw RunError(fmt::format("{}: {} failed: {}", name_, what, std::strerror(errno)));
  }

  void group(const std::string& name) const {
    const Hdf5Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    H5Pset_create_intermediate_group(links.id(), 1);
    const Hdf5Handle made(H5Gcreate2(id(), name.c_str(), links.id(), H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    check(made.valid(), "creating group " + name + " failed");
  }

  void attribute(const std::string& object, const std::string& name, hid_t type, std::span<const std::int64_t> shape,
                 const void* value) const {
    const Hdf5Handle space = space_of(shape);
    const Hdf5Handle made(H5Acreate_by_name(id(), object.c_str(), name.c_str(), type, space.id(), H5P_DEFAULT,
                                            H5P_DEFAULT, H5P_DEFAULT),
                          H5Aclose);
    check(made.valid() && H5Awrite(made.id(), type, value) >= 0, "writing attribute " + name + " failed");
  }

  Hdf5Handle create(const std::string& name, const Shape& shape, hid_t type, bool large) const {
    require_allowed(product(shape) * static_cast<std::int64_t>(H5Tget_size(type)));
    const Hdf5Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    H5Pset_create_intermediate_group(links.id(), 1);
    const Hdf5Handle storage(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_layout(storage.id(), H5D_CONTIGUOUS);
    if (large) {
      H5Pset_alloc_time(storage.id(), H5D_ALLOC_TIME_EARLY);
      H5Pset_fill_time(storage.id(), H5D_FILL_TIME_NEVER);
    }
    const Hdf5Handle space = space_of(shape);
    Hdf5Handle made(H5Dcreate2(id(), name.c_str(), type, space.id(), links.id(), storage.id(), H5P_DEFAULT), H5Dclose);
    check(made.valid(), "creating dataset " + name + " failed");
    return made;
  }

  void dataset(const std::string& name, const Shape& shape, hid_t type, const void* values) const {
    const Hdf5Handle made = create(name, shape, type, false);
    const bool written = product(shape) == 0 || H5Dwrite(made.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
    check(written, "writing dataset " + name + " failed");
  }

  /// Makes a dataset without contents; returns where its bytes go. Room for them is set aside on the disk where the
  /// file system can do that, so that a full disk shows before anything large is under way.
  std::int64_t place(const std::string& name, const Shape& shape, hid_t type) {
    const Hdf5Handle made = create(name, shape, type, true);
    const auto size = static_cast<std::int64_t>(H5Dget_storage_size(made.id()));
    if (size == 0) return 0;
    const haddr_t offset = H5Dget_offset(made.id());
    check(offset != HADDR_UNDEF, "placing dataset " + name + " failed");
    const OpenFile file(path_, O_WRONLY);
    const std::int64_t end = static_cast<std::int64_t>(offset) + size + metadata_bytes;
    if (::fallocate(file.descriptor(), FALLOC_FL_KEEP_SIZE, 0, end) != 0 && errno != EOPNOTSUPP && errno != ENOSYS) {
      throw RunError(fmt::format("{}: no room for dataset {} of {:.1f} MB: {}", name_, name,
                                 static_cast<double>(size) * 1e-6, std::strerror(errno)));
    }
    placed_.emplace_back(static_cast<off_t>(offset), static_cast<off_t>(offset) + size);
    return static_cast<std::int64_t>(offset);
  }

  /// Puts everything but the large datasets into the file on the disk, which then is whole.
  void save() {
    check(H5Fclose(std::exchange(file_, -1)) >= 0, "writing failed");
    const OpenFile disk(path_, O_WRONLY);
    if (!disk.ok()) fail("writing");
    const off_t end = ::lseek(memory_, 0, SEEK_END);
    std::sort(placed_.begin(), placed_.end());
    off_t from = 0;
    for (const auto& [first, last] : placed_) {
      copy(disk, from, first);
      from = last;
    }
    copy(disk, from, end);
    if (::ftruncate(disk.descriptor(), end) != 0 || ::fsync(disk.descriptor()) != 0) fail("writing");
  }

 private:
  /// Bytes [from, to) to the disk, holes left out.
  void copy(const OpenFile& disk, off_t from, off_t to) const {
    std::vector<std::byte> piece(1 << 20);
    for (off_t at = ::lseek(memory_, from, SEEK_DATA); at >= 0 && at < to; at = ::lseek(memory_, at, SEEK_DATA)) {
      const off_t stop = std::min(::lseek(memory_, at, SEEK_HOLE), to);
      while (at < stop) {
        const auto most = static_cast<std::size_t>(std::min<off_t>(stop - at, std::ssize(piece)));
        const ssize_t count = ::pread(memory_, piece.data(), most, at);
        if (count <= 0) fail("reading it in memory");
        write_at(disk.descriptor(), at, std::span(piece).first(static_cast<std::size_t>(count)), name_);
        at += count;
      }
    }
  }

  /// HDF5's own part of the file: far more than the few objects of a file need.
  static constexpr std::int64_t metadata_bytes = 64 * 1024;

  /// A limit on the size of files holds in memory too: it must be met before HDF5 runs into it.
  void require_allowed(std::int64_t more) const {
    hsize_t size = 0;
    rlimit limit{};
    if (H5Fget_filesize(id(), &size) < 0 || ::getrlimit(RLIMIT_FSIZE, &limit) != 0) return;
    if (limit.rlim_cur == RLIM_INFINITY || size + static_cast<hsize_t>(more + metadata_bytes) <= limit.rlim_cur) return;
    errno = EFBIG;
    fail("writing");
  }

  std::string path_;
  std::string name_;
  int memory_ = -1;
  hid_t file_ = -1;
  std::vector<std::pair<off_t, off_t>> placed_;  ///< bytes of large datasets, which ranks write to the disk themselves
};

Hdf5Writer::Hdf5Writer(const Communicator& comm, const std::string& path) : comm_(comm) {
  require_writable(comm, path);
  path_ = comm.broadcast(resolved_output_path(path));
  partial_ = comm.broadcast(fmt::format("{}.partial-{}", path_, ::getpid()));
  on_root([&] { storage_ = std::make_unique<Storage>(partial_, path_); });
}

Hdf5Writer::~Hdf5Writer() {
  if (!storage_) return;
  storage_.reset();
  ::unlink(partial_.c_str());
}

template <class Step>
void Hdf5Writer::on_root(Step&& write) {
  comm_.collectively([&] {
    if (comm_.is_root()) write();
  });
}

void Hdf5Writer::group(const std::string& name) {
  on_root([&] { storage_->group(name); });
}

void Hdf5Writer::attribute(const std::string& object, const std::string& name, const std::string& text) {
  attribute(object, name, text.c_str());
}
void Hdf5Writer::attribute(const std::string& object, const std::string& name, const char* text) {
  on_root([&] { storage_->attribute(object, name, text_type(variable_length).id(), {}, &text); });
}
void Hdf5Writer::attribute(const std::string& object, const std::string& name, double value) {
  on_root([&] { storage_->attribute(object, name, H5T_NATIVE_DOUBLE, {}, &value); });
}
void Hdf5Writer::attribute(const std::string& object, const std::string& name, std::int64_t value) {
  on_root([&] { storage_->attribute(object, name, H5T_NATIVE_INT64, {}, &value); });
}
void Hdf5Writer::attribute(const std::string& object, const std::string& name, bool value) {
  const std::int8_t byte = value ? 1 : 0;
  on_root([&] { storage_->attribute(object, name, bool_type().id(), {}, &byte); });
}
void Hdf5Writer::attribute(const std::string& object, const std::string& name, std::span<const std::int64_t> values) {
  const Shape shape{static_cast<std::int64_t>(values.size())};
  on_root([&] { storage_->attribute(object, name, H5T_NATIVE_INT64, shape, values.data()); });
}

void Hdf5Writer::dataset(const std::string& name, const Shape& shape, std::span<const double> values) {
  on_root([&] { storage_->dataset(name, shape, H5T_NATIVE_DOUBLE, values.data()); });
}
void Hdf5Writer::dataset(const std::string& name, const Shape& shape, std::span<const std::int64_t> values) {
  on_root([&] { storage_->dataset(name, shape, H5T_NATIVE_INT64, values.data()); });
}
void Hdf5Writer::dataset(const std::string& name, const std::vector<bool>& values) {
  const std::vector<std::int8_t> bytes(values.begin(), values.end());
  on_root([&] { storage_->dataset(name, {std::ssize(bytes)}, bool_type().id(), bytes.data()); });
}
void Hdf5Writer::dataset(const std::string& name, const std::vector<std::string>& texts) {
  std::size_t length = 1;
  for (const std::string& text : texts) length = std::max(length, text.size());
  std::string bytes;
  for (const std::string& text : texts) bytes += text + std::string(length - text.size(), '\0');
  on_root([&] { storage_->dataset(name, {std::ssize(texts)}, text_type(length).id(), bytes.data()); });
}

void Hdf5Writer::rows(const std::string& name, const Shape& shape, std::int64_t first, std::span<const double> values) {
  write_rows(name, shape, first, H5T_NATIVE_DOUBLE, sizeof(double), std::as_bytes(values));
}
void Hdf5Writer::rows(const std::string& name, const Shape& shape, std::int64_t first, std::span<const float> values) {
  write_rows(name, shape, first, H5T_NATIVE_FLOAT, sizeof(float), std::as_bytes(values));
}
void Hdf5Writer::rows(const std::string& name, const Shape& shape, std::int64_t first,
                      std::span<const std::int64_t> values) {
  write_rows(name, shape, first, H5T_NATIVE_INT64, sizeof(std::int64_t), std::as_bytes(values));
}
void Hdf5Writer::rows(const std::string& name, const Shape& shape, std::int64_t first,
                      std::span<const std::int32_t> values) {
  write_rows(name, shape, first, H5T_NATIVE_INT32, sizeof(std::int32_t), std::as_bytes(values));
}

void Hdf5Writer::write_rows(const std::string& name, const Shape& shape, std::int64_t first, std::int64_t type,
                            std::size_t element_size, std::span<const std::byte> bytes) {
  std::int64_t place = 0;
  on_root([&] { place = storage_->place(name, shape, type); });
  place = comm_.sum(place);
  comm_.collectively([&] {
    if (bytes.empty()) return;
    const OpenFile file(partial_, O_WRONLY);
    if (!file.ok()) throw RunError(fmt::format("{}: opening it to write failed: {}", path_, std::strerror(errno)));
    const std::int64_t row = product(shape) / shape.front() * static_cast<std::int64_t>(element_size);
    write_at(file.descriptor(), place + first * row, bytes, path_);
    if (::fsync(file.descriptor()) != 0 && errno != EINVAL) {
      throw RunError(fmt::format("{}: writing failed: {}", path_, std::strerror(errno)));
    }
  });
}

void Hdf5Writer::commit() {
  on_root([&] {
    storage_->save();
    if (::rename(partial_.c_str(), path_.c_str()) != 0) storage_->fail("putting the file in its place");
    storage_.reset();
  });
}

}  // namespace block_eigs
