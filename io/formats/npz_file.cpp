#include "io/formats/npz_file.hpp"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <array>
#include <limits>

#include "io/files/damage.hpp"
#include "io/files/input_file.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

zip_t* archive_of(void* archive) { return static_cast<zip_t*>(archive); }
zip_file_t* member_of(void* member) { return static_cast<zip_file_t*>(member); }

zip_stat_t status_of(void* archive, const std::string& path, const std::string& array) {
  zip_stat_t status;
  require(zip_stat(archive_of(archive), (array + ".npy").c_str(), 0, &status) == 0,
          fmt::format("{}: {}: is not in the archive", path, array));
  return status;
}

}  // namespace

NpzFile::NpzFile(const std::string& path) : path_(absolute_path(path)) {
  int code = 0;
  archive_ = zip_open(path_.c_str(), ZIP_RDONLY, &code);
  if (archive_ != nullptr) return;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string reason = zip_error_strerror(&error);
  zip_error_fini(&error);
  throw InputError(fmt::format("{}: cannot be opened as a zip archive: {}", path_,
                               with_verdict(reason, "the file is cut off or damaged")));
}

NpzFile::~NpzFile() { zip_discard(archive_of(archive_)); }

std::vector<std::string> NpzFile::arrays() const {
  std::vector<std::string> names;
  const zip_int64_t entries = zip_get_num_entries(archive_of(archive_), 0);
  for (zip_int64_t i = 0; i < entries; ++i) {
    const char* entry = zip_get_name(archive_of(archive_), static_cast<zip_uint64_t>(i), 0);
    std::string name = entry != nullptr ? entry : "";
    if (!name.ends_with(".npy")) continue;
    name.resize(name.size() - 4);
    names.push_back(std::move(name));
  }
  return names;
}

std::string NpzFile::head(const std::string& array, std::size_t count) const {
  const zip_stat_t status = status_of(archive_, path_, array);
  Stream stream(*this, array);
  const bool is_all = status.size <= count;
  std::string bytes(is_all ? static_cast<std::size_t>(status.size) : count, '\0');
  stream.read(bytes.data(), bytes.size());
  if (is_all) stream.finish();  // nobody else will look at its checksum
  return bytes;
}

bool NpzFile::is_stored(const std::string& array) const {
  const zip_stat_t status = status_of(archive_, path_, array);
  return (status.valid & ZIP_STAT_COMP_METHOD) != 0 && status.comp_method == ZIP_CM_STORE &&
         (status.valid & ZIP_STAT_CRC) != 0 && (status.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 &&
         status.encryption_method == ZIP_EM_NONE;
}

std::int64_t NpzFile::bytes(const std::string& array) const {
  constexpr zip_uint64_t most = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::min<zip_uint64_t>(status_of(archive_, path_, array).size, most));
}

bool NpzFile::can_hold(const std::string& array, std::int64_t count) const {
  // The best that deflate can do: 258 bytes in two bits (zlib's technical details).
  constexpr zip_uint64_t best = 1032;
  const zip_stat_t status = status_of(archive_, path_, array);
  if (status.comp_method != ZIP_CM_STORE && status.comp_method != ZIP_CM_DEFLATE) return true;
  const auto size = static_cast<zip_uint64_t>(InputFile(path_).size());
  const zip_uint64_t most = std::min<zip_uint64_t>(status.comp_size, size) * best;
  return static_cast<zip_uint64_t>(count) <= (status.comp_method == ZIP_CM_STORE ? most / best : most);
}

std::uint32_t NpzFile::checksum(const std::string& array) const { return status_of(archive_, path_, array).crc; }

NpzFile::Stream::Stream(const NpzFile& file, const std::string& array) : name_(file.path() + ": " + array) {
  require(zip_name_locate(archive_of(file.archive_), (array + ".npy").c_str(), 0) >= 0,
          fmt::format("{}: is not in the archive", name_));
  member_ = zip_fopen(archive_of(file.archive_), (array + ".npy").c_str(), 0);
  if (member_ != nullptr) return;
  throw InputError(fmt::format("{}: cannot be read: {}", name_, zip_strerror(archive_of(file.archive_))));
}

NpzFile::Stream::~Stream() { zip_fclose(member_of(member_)); }

std::size_t NpzFile::Stream::read_some(char* to, std::size_t count) {
  const zip_int64_t got = zip_fread(member_of(member_), to, count);
  if (got >= 0) return static_cast<std::size_t>(got);
  throw InputError(
      fmt::format("{}: cannot be read: {}", name_, with_verdict(zip_file_strerror(member_of(member_)))));
}

void NpzFile::Stream::read(char* to, std::size_t count) {
  while (count > 0) {
    const std::size_t got = read_some(to, count);
    require(got > 0, fmt::format("{}: is cut off: {} more bytes were expected", name_, count));
    to += got;
    count -= got;
  }
}

void NpzFile::Stream::skip(std::size_t count) {
  std::array<char, 65536> bytes;
  for (; count > 0; count -= std::min(count, bytes.size())) read(bytes.data(), std::min(count, bytes.size()));
}

void NpzFile::Stream::seek(std::int64_t position) {
  require(zip_fseek(member_of(member_), position, SEEK_SET) == 0,
          fmt::format("{}: cannot be read from byte {}: {}", name_, position,
                      with_verdict(zip_file_strerror(member_of(member_)))));
}

void NpzFile::Stream::finish() {
  char surplus = 0;
  require(read_some(&surplus, 1) == 0,
          fmt::format("{}: has more bytes than its header promises; the file is damaged", name_));
}

}  // namespace block_eigs
