#include "io/formats/petsc_binary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "io/files/input_file.hpp"
#include "io/files/read_in_pieces.hpp"
#include "io/source/array_source.hpp"
#include "io/source/compressed_matrix.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

constexpr std::int64_t matrix_class = 1211216;
/// Class numbers of PETSc's objects (PETSC_SMALLEST_CLASSID and on): what another object in the file starts with.
constexpr std::int64_t first_class = 1211211;
constexpr std::int64_t last_class = 1211311;
/// Written as the number of nonzeros where it does not fit 32 bits; the row lengths tell it then.
constexpr std::int64_t overflowed = std::numeric_limits<std::int32_t>::max();

/// One big-endian number.
template <class T>
T decode(const char* bytes) {
  std::array<char, sizeof(T)> ordered;
  std::memcpy(ordered.data(), bytes, sizeof(T));
  if constexpr (std::endian::native == std::endian::little) std::reverse(ordered.begin(), ordered.end());
  return std::bit_cast<T>(ordered);
}

std::int64_t decode_integer(const char* bytes, std::int64_t width) {
  return width == 8 ? decode<std::int64_t>(bytes) : std::int64_t{decode<std::int32_t>(bytes)};
}

/// Big-endian array at a place in a file.
class PetscArray : public ArraySource {
 public:
  enum class Element { int32, int64, float32, float64 };

  PetscArray(const Communicator& comm, const InputFile& file, std::int64_t place, Offset size, Element element,
             const std::string& what)
      : comm_(comm),
        file_(file),
        place_(place),
        size_(size),
        element_(element),
        name_(file.path() + ": " + what) {}

  Offset size() const override { return size_; }
  const std::string& name() const override { return name_; }
  void read(Offset first, Offset count, std::int64_t* out) override { read_as(first, count, out); }
  void read(Offset first, Offset count, double* out) override { read_as(first, count, out); }

 private:
  template <class T>
  void read_as(Offset first, Offset count, T* out) {
    comm_.collectively([&] {
      switch (element_) {
        case Element::int32:
          return convert<std::int32_t>(first, count, out);
        case Element::int64:
          return convert<std::int64_t>(first, count, out);
        case Element::float32:
          return convert<float>(first, count, out);
        case Element::float64:
          return convert<double>(first, count, out);
      }
    });
  }

  template <class Stored, class T>
  void convert(Offset first, Offset count, T* out) const {
    constexpr auto width = static_cast<Offset>(sizeof(Stored));
    read_in_pieces(count, width, [&](std::int64_t begin, std::int64_t end) {
      std::vector<char> bytes(static_cast<std::size_t>((end - begin) * width));
      file_.read(place_ + (first + begin) * width, bytes.data(), bytes.size());
      for (std::int64_t k = begin; k < end; ++k)
        out[k] = static_cast<T>(decode<Stored>(bytes.data() + (k - begin) * width));
    });
  }

  Communicator comm_;
  const InputFile& file_;
  std::int64_t place_;
  Offset size_;
  Element element_;
  std::string name_;
};

struct PetscHeader {
  std::int64_t index_width = 4;
  GlobalIndex rows = 0;
  GlobalIndex columns = 0;
  Offset nonzeros = 0;

  std::int64_t lengths_place() const { return 4 * index_width; }
  std::int64_t indices_place() const { return lengths_place() + rows * index_width; }
  std::int64_t values_place() const { return indices_place() + nonzeros * index_width; }
};

PetscHeader read_header(const InputFile& file) {
  const std::string head = file.head(32);
  PetscHeader header;
  header.index_width = head.size() >= 4 && decode<std::int32_t>(head.data()) == 0 ? 8 : 4;
  require(static_cast<std::int64_t>(head.size()) >= 4 * header.index_width,
          fmt::format("{}: is cut off: a PETSc matrix starts with {} bytes of header", file.path(),
                      4 * header.index_width));
  const auto number = [&](std::int64_t i) {
    return decode_integer(head.data() + i * header.index_width, header.index_width);
  };
  header.rows = number(1);
  header.columns = number(2);
  header.nonzeros = number(3);
  require(header.nonzeros != -1,
          fmt::format("{}: holds a dense PETSc matrix; a sparse one is needed (MATAIJ)", file.path()));
  require(header.rows >= 0 && header.columns >= 0 && header.nonzeros >= 0,
          fmt::format("{}: its header gives {} rows, {} columns and {} nonzeros; none can be negative",
                      file.path(), header.rows, header.columns, header.nonzeros));
  require(header.rows <= file.size() / header.index_width,
          fmt::format("{}: is cut off: its header promises {} rows, but the file has only {} bytes", file.path(),
                      header.rows, file.size()));
  const bool stand_in = header.index_width == 4 && header.nonzeros == overflowed;
  require(stand_in || header.nonzeros <= file.size() / header.index_width,
          fmt::format("{}: is cut off: its header promises {} nonzeros, but the file has only {} bytes",
                      file.path(), header.nonzeros, file.size()));
  return header;
}

/// True where another PETSc object or the end of the file is at `place`.
bool ends_at(const InputFile& file, std::int64_t place, std::int64_t index_width) {
  if (place == file.size()) return true;
  if (place + index_width > file.size()) return false;
  std::array<char, 8> bytes{};
  file.read(place, bytes.data(), static_cast<std::size_t>(index_width));
  const std::int64_t number = decode_integer(bytes.data(), index_width);
  return number >= first_class && number <= last_class;
}

/// Width of the values, which the file does not state: what stands after them tells.
PetscArray::Element value_type(const InputFile& file, const PetscHeader& header) {
  const std::int64_t place = header.values_place();
  const auto ends_with_width = [&](std::int64_t width) {
    return place + header.nonzeros * width <= file.size() &&
           ends_at(file, place + header.nonzeros * width, header.index_width);
  };
  if (ends_with_width(8)) return PetscArray::Element::float64;
  if (ends_with_width(4)) return PetscArray::Element::float32;
  require(
      !ends_with_width(16),
      fmt::format("{}: holds complex values (from a PETSc built for complex); real ones are needed", file.path()));
  const std::int64_t wanted = place + header.nonzeros * 8;
  throw InputError(
      fmt::format("{}: is {} bytes long; a matrix with {} rows and {} nonzeros takes {}{}", file.path(),
                  file.size(), header.rows, header.nonzeros, wanted,
                  file.size() < wanted ? ": the file is cut off" : ", and what follows is no PETSc object"));
}

/// Positions in the entries at which the own rows begin and end, and the number of entries of all rows.
struct RowPositions {
  std::vector<Offset> own;
  Offset total = 0;
};

class PetscMatrix : public MatrixSource {
 public:
  PetscMatrix(const Communicator& comm, const std::string& path)
      : comm_(comm), file_(path), header_(read_header(file_)) {}

  /// Finds out where everything is. Collective, unlike the constructor.
  void locate() {
    // PETSc writes a stand-in for a number of nonzeros that does not fit; adding up the row lengths gives the true
    // one.
    if (header_.index_width == 4 && header_.nonzeros == overflowed) {
      const Partition partition = Partition::uniform(header_.rows, comm_.size());
      header_.nonzeros = positions(partition, std::numeric_limits<Offset>::max()).total;
    }
    comm_.collectively([&] {
      require(header_.nonzeros <= file_.size() / header_.index_width,
              fmt::format("{}: is cut off: its rows have {} nonzeros, but the file has only {} bytes",
                          file_.path(), header_.nonzeros, file_.size()));
      value_type_ = value_type(file_, header_);
    });
  }

  GlobalIndex rows() const override { return header_.rows; }
  GlobalIndex columns() const override { return header_.columns; }
  std::string description() const override { return file_.path(); }

  CsrRows read(const Partition& partition) override {
    RowPositions place = positions(partition, header_.nonzeros);
    comm_.collectively([&] {
      if (!comm_.is_root() || place.total == header_.nonzeros) return;
      throw InputError(
          fmt::format("{}: its row lengths add up to {}, but its header promises {} nonzeros; the file is damaged",
                      file_.path(), place.total, header_.nonzeros));
    });
    PetscArray indices(comm_, file_, header_.indices_place(), header_.nonzeros, index_type(), "column numbers");
    PetscArray values(comm_, file_, header_.values_place(), header_.nonzeros, value_type_, "values");
    return read_by_rows(comm_, partition, header_.columns, std::move(place.own), {indices, values});
  }

 private:
  PetscArray::Element index_type() const {
    return header_.index_width == 8 ? PetscArray::Element::int64 : PetscArray::Element::int32;
  }

  /// Out of the row lengths. Collective.
  RowPositions positions(const Partition& partition, Offset limit) const {
    PetscArray lengths(comm_, file_, header_.lengths_place(), header_.rows, index_type(), "row lengths");
    const auto own_rows = static_cast<std::size_t>(partition.size(comm_.rank()));
    std::vector<Offset> own;
    comm_.collectively([&] { own.assign(own_rows + 1, 0); });
    lengths.read(partition.begin(comm_.rank()), static_cast<Offset>(own_rows), own.data() + 1);
    comm_.collectively([&] {
      for (std::size_t i = 1; i <= own_rows; ++i) {
        if (own[i] < 0 || own[i] > limit - own[i - 1]) {
          throw InputError(fmt::format("{}: the length of row {} is {}; the file is damaged", file_.path(),
                                       partition.begin(comm_.rank()) + static_cast<GlobalIndex>(i) - 1, own[i]));
        }
        own[i] += own[i - 1];
      }
    });
    const auto sums = comm_.all_gather(own.back());
    Offset before = 0;
    Offset total = 0;
    for (int r = 0; r < comm_.size(); ++r) {
      if (r < comm_.rank()) before += sums[static_cast<std::size_t>(r)];
      total += sums[static_cast<std::size_t>(r)];
    }
    for (Offset& position : own) position += before;
    return {std::move(own), total};
  }

  Communicator comm_;
  InputFile file_;
  PetscHeader header_;
  PetscArray::Element value_type_ = PetscArray::Element::float64;
};

}  // namespace

bool is_petsc_matrix(const std::string& head) {
  if (head.size() >= 4 && decode<std::int32_t>(head.data()) == matrix_class) return true;
  return head.size() >= 8 && decode<std::int64_t>(head.data()) == matrix_class;
}

std::unique_ptr<MatrixSource> open_petsc_binary(const Communicator& comm, const std::string& path) {
  require_readable(comm, path);
  std::unique_ptr<PetscMatrix> source;
  comm.collectively([&] { source = std::make_unique<PetscMatrix>(comm, path); });
  source->locate();
  return source;
}

}  // namespace block_eigs
