#include "io/hdf5/hdf5_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <set>
#include <system_error>
#include <type_traits>
#include <utility>

#include "io/files/damage.hpp"
#include "io/files/extents.hpp"
#include "io/files/input_file.hpp"
#include "io/hdf5/hdf5_errors.hpp"
#include "io/hdf5/hdf5_in_place.hpp"
#include "io/hdf5/hdf5_origin.hpp"
#include "io/hdf5/hdf5_types.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

static_assert(H5_VERSION_GE(1, 10, 5), "HDF5 1.10.5 or newer is needed");
static_assert(std::is_same_v<hid_t, std::int64_t> && std::is_same_v<herr_t, int>);

namespace {

/// Deeper nesting and more objects than this are nobody's data.
constexpr int max_depth = 32;
constexpr std::size_t max_objects = 100000;
/// As are texts, and lists of numbers in attributes, of more than this: nothing is set aside for what a damaged
/// file says of them.
constexpr std::size_t longest_text = std::size_t{16} << 20;
constexpr hssize_t most_numbers = 4096;

std::vector<std::int64_t> shape_of(hid_t space) {
  const int rank = H5Sget_simple_extent_ndims(space);
  std::vector<hsize_t> extents(static_cast<std::size_t>(std::max(rank, 0)));
  if (rank > 0) H5Sget_simple_extent_dims(space, extents.data(), nullptr);
  return {extents.begin(), extents.end()};
}

/// The one string that `read` (H5Aread or H5Dread of something) yields.
std::optional<std::string> text_of(hid_t type, hid_t space, const std::function<herr_t(hid_t, void*)>& read) {
  if (H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1) return std::nullopt;
  const Hdf5Handle memory_type(H5Tcopy(type), H5Tclose);
  if (H5Tis_variable_str(type) > 0) {
    char* text = nullptr;
    if (read(memory_type.id(), &text) < 0 || text == nullptr) return std::nullopt;
    std::string result(text);
    H5free_memory(text);
    return result;
  }
  const std::size_t width = H5Tget_size(type);
  if (width > longest_text) return std::nullopt;
  std::string text(width, '\0');
  if (read(memory_type.id(), text.data()) < 0) return std::nullopt;
  if (const auto end = text.find('\0'); end != std::string::npos) text.resize(end);
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

/// `values` as integers. Throws where one of them is none; `name` says whose they are.
std::vector<std::int64_t> whole_numbers(const std::vector<double>& values, const std::string& name) {
  std::vector<std::int64_t> result;
  for (const double value : values) {
    require(std::abs(value) <= 0x1p53 && std::trunc(value) == value,
            fmt::format("{} is {}; an integer is needed", name, value));
    result.push_back(static_cast<std::int64_t>(value));
  }
  return result;
}

/// Throws unless every filter of the dataset can be undone here.
void require_filters(hid_t dataset, const std::string& name) {
  const Hdf5Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  const int filters = H5Pget_nfilters(creation.id());
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0;
    unsigned config = 0;
    std::size_t values = 0;
    std::string filter_name(64, '\0');
    const auto filter = H5Pget_filter2(creation.id(), static_cast<unsigned>(i), &flags, &values, nullptr,
                                       filter_name.size(), filter_name.data(), &config);
    require(
        H5Zfilter_avail(filter) > 0,
        fmt::format("{}: is stored with filter '{}' (number {}), which this HDF5 library does not have; write it "
                    "with compression='gzip' or none, or point HDF5_PLUGIN_PATH to the filter",
                    name, filter_name.c_str(), static_cast<int>(filter)));
  }
}

/// Throws where the type of the elements, or the bytes that the file has for them, cannot be: HDF5 reads beyond
/// its memory then.
void require_readable(hid_t dataset, hid_t type, std::int64_t elements, const std::string& name) {
  const std::size_t width = H5Tget_size(type);
  const auto kind = H5Tget_class(type);
  const bool number = kind == H5T_INTEGER || kind == H5T_FLOAT || kind == H5T_BITFIELD;
  const std::size_t bits = number ? H5Tget_precision(type) + static_cast<std::size_t>(H5Tget_offset(type)) : 0;
  require(width > 0 && bits <= 8 * width,
          fmt::format("{}: is damaged: its elements have {} bits in {} bytes", name, bits, width));
  const Hdf5Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  const auto layout = H5Pget_layout(creation.id());
  if (layout != H5D_COMPACT && layout != H5D_CONTIGUOUS) return;
  const std::uint64_t stored = H5Dget_storage_size(dataset);
  require(
      stored / width >= static_cast<std::uint64_t>(elements),
      fmt::format("{}: is damaged: the file has {} bytes for {} elements of {}", name, stored, elements, width));
}

std::string explain_open_failure(const std::string& path, const std::string& reason) {
  const auto says = [&](const char* words) { return reason.find(words) != std::string::npos; };
  // Other reasons are file systems without locks, and a signal that came in between.
  if (says("unable to lock file") && says("temporarily unavailable")) {
    return fmt::format(
        "{}: is locked by another program, which has it open for writing ({}); close it there first", path,
        reason);
  }
  if (says("already open for write")) {
    return fmt::format(
        "{}: is marked as open for writing: another program is writing it, or one died doing so (then "
        "'h5clear -s' repairs it)",
        path);
  }
  if (reason.find("truncated file") != std::string::npos) return fmt::format("{}: is cut off ({})", path, reason);
  return fmt::format("{}: cannot be opened as HDF5: {}", path, with_verdict(reason));
}

[[noreturn]] void fail_listing(const std::string& path, const std::string& group) {
  throw InputError(
      fmt::format("{}:{}/: its contents cannot be listed: {}; the file is damaged", path, group, hdf5_failure()));
}

/// File and place in it: the same for an object under whatever name; zeros where HDF5 cannot tell. Of the calls
/// for this the old one alone is the same in all versions of the library.
std::array<unsigned long, 4> identity(hid_t group, const std::string& name) {
  H5G_stat_t found{};
  if (H5Gget_objinfo(group, name.c_str(), true, &found) < 0) return {};
  return {found.fileno[0], found.fileno[1], found.objno[0], found.objno[1]};
}

struct Listing {
  const std::string& path;  ///< of the file, for messages
  std::vector<std::string> found{};
  std::set<std::array<unsigned long, 4>> seen{};  ///< identities

  /// `prefix` is the group's own name. What has several names is listed under the first: links may lead in
  /// circles, through which there are as many ways as 2^depth.
  void visit(hid_t group, const std::string& prefix, int depth) {
    if (depth > max_depth) return;
    H5G_info_t info;
    if (H5Gget_info(group, &info) < 0) fail_listing(path, prefix);
    for (hsize_t i = 0; i < info.nlinks && found.size() < max_objects; ++i) {
      const auto length = H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, nullptr, 0, H5P_DEFAULT);
      if (length <= 0) fail_listing(path, prefix);
      std::string name(static_cast<std::size_t>(length) + 1, '\0');
      H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name.data(), name.size(), H5P_DEFAULT);
      name.pop_back();
      const Hdf5Handle object(H5Oopen(group, name.c_str(), H5P_DEFAULT), H5Oclose);
      if (!object.valid() || (prefix.empty() && name.front() == '#')) continue;
      const auto type = H5Iget_type(object.id());
      if (type != H5I_GROUP && type != H5I_DATASET) continue;
      if (!seen.insert(identity(group, name)).second) continue;
      const std::string full_name = fmt::format("{}/{}", prefix, name);
      found.push_back(full_name);
      if (type == H5I_GROUP) visit(object.id(), full_name, depth + 1);
    }
  }
};

}  // namespace

bool Hdf5Dataset::is_whole() const {
  const QuietHdf5 quiet;
  const Hdf5Handle type(H5Dget_type(dataset_.id()), H5Tclose);
  const std::uint64_t width = H5Tget_size(type.id());
  const std::uint64_t stored = H5Dget_storage_size(dataset_.id());
  // What a damaged file says of itself is more than it has.
  std::error_code unknown;
  const std::uintmax_t has = std::filesystem::file_size(path_, unknown);
  return width > 0 && stored / width == static_cast<std::uint64_t>(size_) && stored % width == 0 &&
         (unknown || stored <= has);
}

void Hdf5Dataset::read(const std::vector<Hdf5Range>& ranges, double* out) const {
  if (ranges.size() == 1 && read_in_place(dataset_, path_, ranges.front(), out)) return;
  read_as(H5T_NATIVE_DOUBLE, ranges, out);
}

void Hdf5Dataset::read(const std::vector<Hdf5Range>& ranges, std::int64_t* out) const {
  if (ranges.size() == 1 && read_in_place(dataset_, path_, ranges.front(), out)) return;
  read_as(H5T_NATIVE_INT64, ranges, out);
}

void Hdf5Dataset::read_as(std::int64_t type, const std::vector<Hdf5Range>& ranges, void* out) const {
  const QuietHdf5 quiet;
  std::vector<hsize_t> first;
  std::vector<hsize_t> count;
  std::size_t elements = 1;
  for (const Hdf5Range& range : ranges) {
    if (range.count == 0) return;
    first.push_back(static_cast<hsize_t>(range.first));
    count.push_back(static_cast<hsize_t>(range.count));
    elements *= static_cast<std::size_t>(range.count);
  }
  const Hdf5Handle file_space(H5Dget_space(dataset_.id()), H5Sclose);
  const Hdf5Handle memory_space(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose);
  // Conversion between widths goes through a buffer, which HDF5 clears for every read: its default of 1 MiB makes
  // large reads needlessly slow, and 8 MiB small ones.
  const Hdf5Handle transfer(H5Pcreate(H5P_DATASET_XFER), H5Pclose);
  H5Pset_buffer(transfer.id(), std::clamp(elements, std::size_t{8} << 10, std::size_t{1} << 20) * sizeof(double),
                nullptr, nullptr);
  const bool ok =
      H5Sselect_hyperslab(file_space.id(), H5S_SELECT_SET, first.data(), nullptr, count.data(), nullptr) >= 0 &&
      H5Dread(dataset_.id(), type, memory_space.id(), file_space.id(), transfer.id(), out) >= 0;
  require_not_shrunk(dataset_.id());
  require(ok, fmt::format("{}: cannot be read: {}", name_, with_verdict(hdf5_failure())));
}

Hdf5File::Hdf5File(const std::string& path) : path_(absolute_path(path)) {
  const QuietHdf5 quiet;
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  // Closing the file closes whatever is open in it, so that a failed read leaves nothing behind.
  H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG);
  file_ = Hdf5Handle(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose);
  if (!file_.valid()) throw InputError(explain_open_failure(path_, hdf5_failure()));
}

int Hdf5File::object_type(const std::string& object) const {
  const QuietHdf5 quiet;
  const Hdf5Handle handle(H5Oopen(file_.id(), object.c_str(), H5P_DEFAULT), H5Oclose);
  return handle.valid() ? static_cast<int>(H5Iget_type(handle.id())) : static_cast<int>(H5I_BADID);
}

bool Hdf5File::has_group(const std::string& object) const { return object_type(object) == H5I_GROUP; }
bool Hdf5File::has_dataset(const std::string& object) const { return object_type(object) == H5I_DATASET; }

std::vector<std::string> Hdf5File::objects() const {
  const QuietHdf5 quiet;
  Listing listing{path_, {"/"}};
  const Hdf5Handle root(H5Gopen2(file_.id(), "/", H5P_DEFAULT), H5Gclose);
  if (!root.valid()) fail_listing(path_, "");
  listing.seen.insert(identity(root.id(), "."));
  listing.visit(root.id(), "", 0);
  return std::move(listing.found);
}

Hdf5Dataset Hdf5File::dataset(const std::string& object) const {
  const QuietHdf5 quiet;
  Hdf5Dataset result;
  result.name_ = path_ + ":" + object;
  result.path_ = path_;
  result.dataset_ = Hdf5Handle(H5Dopen2(file_.id(), object.c_str(), H5P_DEFAULT), H5Dclose);
  require(result.dataset_.valid(),
          fmt::format("{}: cannot be opened as a dataset: {}", result.name_, hdf5_failure()));
  const Hdf5Handle type(H5Dget_type(result.dataset_.id()), H5Tclose);
  const Hdf5Handle space(H5Dget_space(result.dataset_.id()), H5Sclose);
  require(type.valid() && space.valid(), fmt::format("{}: is damaged: {}", result.name_, hdf5_failure()));
  result.kind_ = kind_of(type.id());
  result.type_name_ = name_of_type(type.id());
  result.shape_ = shape_of(space.id());
  require_not_shrunk(result.dataset_.id());
  result.size_ = element_count(result.shape_, 8);
  require(result.size_ >= 0, fmt::format("{}: has the shape ({}), more elements than can be counted", result.name_,
                                         fmt::join(result.shape_, ", ")));
  if (result.size() == 0) return result;
  require_filters(result.dataset_.id(), result.name_);
  H5D_space_status_t allocated{};
  H5Dget_space_status(result.dataset_.id(), &allocated);
  require(allocated != H5D_SPACE_STATUS_NOT_ALLOCATED,
          fmt::format("{}: was created, but nothing was ever written into it", result.name_));
  require_readable(result.dataset_.id(), type.id(), result.size_, result.name_);
  return result;
}

std::optional<std::string> Hdf5File::text_attribute(const std::string& object, const std::string& name) const {
  const QuietHdf5 quiet;
  const Hdf5Handle attribute(H5Aopen_by_name(file_.id(), object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT),
                             H5Aclose);
  if (!attribute.valid()) return std::nullopt;
  const Hdf5Handle type(H5Aget_type(attribute.id()), H5Tclose);
  const Hdf5Handle space(H5Aget_space(attribute.id()), H5Sclose);
  require_not_shrunk(attribute.id());
  return text_of(type.id(), space.id(),
                 [&](hid_t memory, void* out) { return H5Aread(attribute.id(), memory, out); });
}

std::optional<std::vector<std::int64_t>> Hdf5File::integer_attribute(const std::string& object,
                                                                     const std::string& name) const {
  const QuietHdf5 quiet;
  const Hdf5Handle attribute(H5Aopen_by_name(file_.id(), object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT),
                             H5Aclose);
  if (!attribute.valid()) return std::nullopt;
  const Hdf5Handle type(H5Aget_type(attribute.id()), H5Tclose);
  const Hdf5Handle space(H5Aget_space(attribute.id()), H5Sclose);
  require_not_shrunk(attribute.id());
  const auto points = H5Sget_simple_extent_npoints(space.id());
  const Hdf5Kind kind = kind_of(type.id());
  if (points <= 0 || (kind != Hdf5Kind::integer && kind != Hdf5Kind::floating)) return std::nullopt;
  require(points <= most_numbers,
          fmt::format("{}:{}: its attribute {} has {} numbers", path_, object, name, points));
  if (kind == Hdf5Kind::floating) {
    std::vector<double> numbers(static_cast<std::size_t>(points));
    if (H5Aread(attribute.id(), H5T_NATIVE_DOUBLE, numbers.data()) < 0) return std::nullopt;
    return whole_numbers(numbers, fmt::format("{}:{}: its attribute {}", path_, object, name));
  }
  std::vector<std::int64_t> values(static_cast<std::size_t>(points));
  if (H5Aread(attribute.id(), H5T_NATIVE_INT64, values.data()) < 0) return std::nullopt;
  return values;
}

std::optional<std::string> Hdf5File::text_dataset(const std::string& object) const {
  const QuietHdf5 quiet;
  const Hdf5Handle dataset(H5Dopen2(file_.id(), object.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset.valid()) return std::nullopt;
  const Hdf5Handle type(H5Dget_type(dataset.id()), H5Tclose);
  const Hdf5Handle space(H5Dget_space(dataset.id()), H5Sclose);
  auto text = text_of(type.id(), space.id(), [&](hid_t memory, void* out) {
    return H5Dread(dataset.id(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out);
  });
  require_not_shrunk(dataset.id());
  return text;
}

std::shared_ptr<const Hdf5File> open_hdf5(const Communicator& comm, const std::string& path) {
  require_readable(comm, path);
  std::shared_ptr<const Hdf5File> file;
  comm.collectively([&] { file = std::make_shared<const Hdf5File>(path); });
  return file;
}

}  // namespace block_eigs
