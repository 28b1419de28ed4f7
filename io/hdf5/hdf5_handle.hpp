#pragma once

#include <cstdint>
#include <utility>

namespace block_eigs {

/// Identifier of an open HDF5 object, closed when it goes. Holds what HDF5 calls hid_t without HDF5's header.
class Hdf5Handle {
 public:
  using Closer = int (*)(std::int64_t);

  Hdf5Handle() = default;
  /// A negative `id` stands for nothing.
  Hdf5Handle(std::int64_t id, Closer closer) : id_(id), closer_(closer) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept
      : id_(std::exchange(other.id_, -1)), closer_(std::exchange(other.closer_, nullptr)) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(closer_, other.closer_);
    return *this;
  }
  ~Hdf5Handle() {
    if (id_ >= 0) closer_(id_);
  }

  std::int64_t id() const { return id_; }
  bool valid() const { return id_ >= 0; }
  /// Closes it now; false where HDF5 says that this failed.
  bool close() { return id_ >= 0 && closer_(std::exchange(id_, -1)) >= 0; }

 private:
  std::int64_t id_ = -1;
  Closer closer_ = nullptr;
};

}  // namespace block_eigs
