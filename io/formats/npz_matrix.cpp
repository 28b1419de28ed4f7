#include "io/formats/npz_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "io/files/extents.hpp"
#include "io/files/input_file.hpp"
#include "io/files/listed.hpp"
#include "io/formats/npy_header.hpp"
#include "io/formats/npz_compressed.hpp"
#include "io/formats/npz_file.hpp"
#include "io/formats/npz_stored.hpp"
#include "io/source/array_source.hpp"
#include "io/source/compressed_matrix.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

enum Tag : int { tag_elements = 1, tag_failed = 2 };

/// Bytes sent at a time.
constexpr std::int64_t piece = std::int64_t{4} << 20;

/// Array of an archive that rank 0 alone has open (`archive` is null elsewhere) and hands out to all.
class NpzArray : public ArraySource {
 public:
  /// Collective; throws on all ranks alike.
  NpzArray(const Communicator& comm, const NpzFile* archive, const std::string& path, const std::string& array)
      : comm_(comm), archive_(archive), array_(array), name_(path + ": " + array) {
    std::string head;
    comm.collectively([&] {
      if (archive != nullptr) head = archive->head(array, npy_head_size);
    });
    head_ = comm.broadcast(std::move(head));
    comm.collectively([&] {
      header_ = parse_npy_header(head_, name_);
      if (archive != nullptr && is_npy_number(header_)) require_size();
    });
  }

  const NpyHeader& header() const { return header_; }
  std::string text() const { return npy_text(header_, head_); }
  /// The elements of an array so short that all ranks have it already. Not collective.
  std::vector<std::int64_t> integers() const {
    require_integers();
    std::vector<std::int64_t> values(static_cast<std::size_t>(size()));
    const auto begin = static_cast<std::size_t>(header_.data_offset);
    require(begin + values.size() * static_cast<std::size_t>(header_.width) <= head_.size(),
            fmt::format("{}: has {} elements, too many", name_, size()));
    convert_npy(header_, head_.data() + begin, values.size(), values.data());
    return values;
  }
  Offset size() const override { return header_.size(); }
  const std::string& name() const override { return name_; }
  void read(Offset first, Offset count, std::int64_t* out) override { hand_out(first, count, out); }
  void read(Offset first, Offset count, double* out) override { hand_out(first, count, out); }
  /// All of a compressed member on one rank: it can be inflated by one thread only, but beside another.
  bool is_read_alone(Offset first, Offset count) const override {
    return comm_.size() == 1 && first == 0 && count == header_.size() && !archive_->is_stored(array_);
  }
  void read_alone(Offset, Offset, std::int64_t* out) override { read_compressed(*archive_, array_, header_, out); }
  void read_alone(Offset, Offset, double* out) override { read_compressed(*archive_, array_, header_, out); }

  /// Throws unless the array is a list of integers, or of numbers. Not collective.
  void require_integers() const { require_kind(is_npy_integer(header_), "integers"); }
  void require_numbers() const {
    if (header_.kind == 'c')
      throw InputError(fmt::format("{}: holds complex values; real ones are needed", name_));
    require_kind(is_npy_number(header_), "numbers of 64 bits or less");
  }

 private:
  /// Before memory is taken for what the header promises. On rank 0.
  void require_size() const {
    const std::int64_t bytes = archive_->bytes(array_);
    const std::int64_t elements = header_.size() * header_.width;
    require(bytes - header_.data_offset >= elements && archive_->can_hold(array_, elements),
            fmt::format("{}: is cut off: its header promises {} elements, more than the archive has bytes for",
                        name_, header_.size()));
    require(bytes - header_.data_offset == elements,
            fmt::format("{}: has more bytes than its header promises; the file is damaged", name_));
  }

  void require_kind(bool fits, const char* wanted) const {
    if (!fits) throw InputError(fmt::format("{}: holds {}; {} are needed", name_, header_.type_name(), wanted));
    if (header_.shape.size() == 1) return;
    throw InputError(fmt::format("{}: has {} dimensions; a list is needed", name_, header_.shape.size()));
  }

  /// Stored as it is, no byte more or less than the header promises. On rank 0.
  bool is_whole() const {
    return archive_->is_stored(array_) &&
           archive_->bytes(array_) == header_.data_offset + header_.size() * header_.width;
  }

  template <class T>
  void hand_out(Offset first, Offset count, T* out) {
    if (comm_.size() == 1 && first == 0 && count == header_.size() && is_whole()) {
      comm_.collectively([&] { read_stored(*archive_, array_, header_, out); });
      return;
    }
    const auto firsts = comm_.all_gather(first);
    const auto counts = comm_.all_gather(count);
    const Offset step = std::min(std::max<Offset>(1, piece / header_.width), header_.size());
    std::vector<char> bytes;  // taken before messages are under way: no rank may fail with some on their way to it
    comm_.collectively([&] { bytes.resize(static_cast<std::size_t>(step * header_.width)); });
    std::exception_ptr failure;
    if (archive_ != nullptr) {
      int serving = 0;
      try {
        stream_out(firsts, counts, bytes, out, serving);
      } catch (...) {
        failure = std::current_exception();
        for (int r = std::max(serving, 1); r < comm_.size(); ++r) {
          if (counts[static_cast<std::size_t>(r)] > 0)
            MPI_Send(nullptr, 0, MPI_BYTE, r, tag_failed, comm_.handle());
        }
      }
    } else {
      receive(count, bytes, out);
    }
    comm_.collectively([&] {
      if (failure) std::rethrow_exception(failure);
    });
  }

  /// Rank 0: one pass over the array by pieces that fill `bytes`. `serving` is the rank whose part is on its way.
  template <class T>
  void stream_out(const std::vector<Offset>& firsts, const std::vector<Offset>& counts, std::vector<char>& bytes,
                  T* out, int& serving) {
    NpzFile::Stream stream(*archive_, array_);
    stream.skip(static_cast<std::size_t>(header_.data_offset));
    const std::int64_t width = header_.width;
    const Offset step = static_cast<Offset>(bytes.size()) / width;
    std::vector<char> last(static_cast<std::size_t>(width));
    Offset position = 0;
    for (; serving < comm_.size(); ++serving) {
      const auto rank = static_cast<std::size_t>(serving);
      const Offset end = firsts[rank] + counts[rank];
      for (Offset at = firsts[rank]; at < end;) {
        if (at > position) stream.skip(static_cast<std::size_t>((at - position) * width));
        // The element before was the end of the last rank's part, too: it is at hand.
        const bool overlap = at < position;
        const Offset now = overlap ? 1 : std::min(step, end - at);
        if (overlap) {
          std::copy(last.begin(), last.end(), bytes.begin());
        } else {
          stream.read(bytes.data(), static_cast<std::size_t>(now * width));
          std::copy_n(bytes.begin() + (now - 1) * width, width, last.begin());
          position = at + now;
        }
        if (serving == 0) {
          convert_npy(header_, bytes.data(), static_cast<std::size_t>(now), out + (at - firsts[rank]));
        } else {
          MPI_Send(bytes.data(), static_cast<int>(now * width), MPI_BYTE, serving, tag_elements, comm_.handle());
        }
        at += now;
      }
    }
    if (position == header_.size()) stream.finish();
  }

  /// All other ranks, with room for a piece. Returns early where rank 0 failed.
  template <class T>
  void receive(Offset count, std::vector<char>& bytes, T* out) {
    for (Offset got = 0; got < count;) {
      MPI_Status status;
      MPI_Probe(0, MPI_ANY_TAG, comm_.handle(), &status);
      int length = 0;
      MPI_Get_count(&status, MPI_BYTE, &length);
      MPI_Recv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 0, status.MPI_TAG, comm_.handle(),
               MPI_STATUS_IGNORE);
      if (status.MPI_TAG == tag_failed) return;
      const Offset now = length / header_.width;
      convert_npy(header_, bytes.data(), static_cast<std::size_t>(now), out + got);
      got += now;
    }
  }

  Communicator comm_;
  const NpzFile* archive_;
  std::string array_;
  std::string name_;
  std::string head_;
  NpyHeader header_;
};

class NpzMatrix : public MatrixSource {
 public:
  /// Collective; throws on all ranks alike.
  NpzMatrix(const Communicator& comm, const std::string& path) : comm_(comm), path_(absolute_path(path)) {
    comm.collectively([&] {
      if (comm.is_root()) archive_ = std::make_unique<NpzFile>(path);
    });
    format_ = read_format();
    read_shape();
    values_ = open("data");
    indices_ = open(format_ == "coo" ? "col" : "indices");
    pointers_ = open(format_ == "coo" ? "row" : "indptr");
    comm.collectively([&] { require_consistent(); });
  }

  GlobalIndex rows() const override { return rows_; }
  GlobalIndex columns() const override { return columns_; }
  std::string description() const override { return path_; }

  CsrRows read(const Partition& partition) override {
    const CompressedEntries entries{*indices_, *values_};
    if (format_ == "coo") return read_coordinates(comm_, partition, columns_, *pointers_, entries);
    if (format_ == "csr") {
      auto positions = read_pointers(comm_, partition, *pointers_, indices_->size());
      return read_by_rows(comm_, partition, columns_, std::move(positions), entries);
    }
    const Partition by_columns = Partition::uniform(columns_, comm_.size());
    const auto positions = read_pointers(comm_, by_columns, *pointers_, indices_->size());
    return read_by_columns(comm_, partition, by_columns, positions, entries);
  }

 private:
  std::unique_ptr<NpzArray> open(const std::string& array) const {
    return std::make_unique<NpzArray>(comm_, archive_.get(), path_, array);
  }

  std::string read_format() const {
    comm_.collectively([&] {
      if (archive_ == nullptr) return;
      const auto names = archive_->arrays();
      if (std::find(names.begin(), names.end(), "format") != names.end()) return;
      throw InputError(fmt::format("{}: is not a sparse matrix of scipy.sparse.save_npz: its arrays are {}", path_,
                                   listed(names)));
    });
    std::string format = open("format")->text();
    comm_.collectively([&] {
      if (format == "csr" || format == "csc" || format == "coo") return;
      throw InputError(fmt::format(
          "{}: holds a sparse matrix in '{}' format; csr, csc and coo are read: save_npz(file, A.tocsr())", path_,
          format));
    });
    return format;
  }

  void read_shape() {
    const auto shape = open("shape");
    comm_.collectively([&] {
      const auto extents = shape->integers();
      require(extents.size() == 2,
              fmt::format("{}: has {} elements; rows and columns are needed", shape->name(), extents.size()));
      rows_ = extents[0];
      columns_ = extents[1];
    });
  }

  void require_consistent() const {
    values_->require_numbers();
    indices_->require_integers();
    pointers_->require_integers();
    require(is_extent(rows_) && is_extent(columns_),
            fmt::format("{}: its shape is ({}, {})", path_, rows_, columns_));
    if (indices_->size() != values_->size()) {
      throw InputError(fmt::format("{} has {} elements, but {} has {}; there must be as many", indices_->name(),
                                   indices_->size(), values_->name(), values_->size()));
    }
    const Offset wanted = format_ == "coo" ? indices_->size() : (format_ == "csr" ? rows_ : columns_) + 1;
    if (pointers_->size() == wanted) return;
    throw InputError(fmt::format("{}: has {} elements; a {} matrix of shape ({}, {}) with {} nonzeros needs {}",
                                 pointers_->name(), pointers_->size(), format_, rows_, columns_, indices_->size(),
                                 wanted));
  }

  Communicator comm_;
  std::string path_;
  std::unique_ptr<NpzFile> archive_;  ///< rank 0 only
  std::string format_;
  GlobalIndex rows_ = 0;
  GlobalIndex columns_ = 0;
  std::unique_ptr<NpzArray> values_;
  std::unique_ptr<NpzArray> indices_;
  std::unique_ptr<NpzArray> pointers_;  ///< of a coo matrix: the row numbers
};

}  // namespace

std::unique_ptr<MatrixSource> open_npz_matrix(const Communicator& comm, const std::string& path) {
  require_readable(comm, path);
  return std::make_unique<NpzMatrix>(comm, path);
}

}  // namespace block_eigs
