#include "io/hdf5/hdf5_writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <numeric>

#include "io/files/output_path.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

[[noreturn]] void fail(const std::string& path, const char* what) {
  throw RunError(fmt::format("{}: {} failed: {}", path, what, std::strerror(errno)));
}

}  // namespace

Hdf5Writer::Hdf5Writer(const Communicator& comm, const std::string& path) : comm_(comm) {
  require_writable(comm, path);
  path_ = comm.broadcast(resolved_output_path(path));
  partial_ = comm.broadcast(fmt::format("{}.partial-{}", path_, ::getpid()));
  unfinished_.emplace(partial_);
  on_root([&] { storage_ = std::make_unique<Hdf5Storage>(partial_, path_); });
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
  on_root([&] { storage_->attribute(object, name, text); });
}
void Hdf5Writer::attribute(const std::string& object, const std::string& name, const char* text) {
  attribute(object, name, std::string(text));
}
void Hdf5Writer::attribute(const std::string& object, const std::string& name, double value) {
  on_root([&] { storage_->attribute(object, name, value); });
}
void Hdf5Writer::attribute(const std::string& object, const std::string& name, std::int64_t value) {
  on_root([&] { storage_->attribute(object, name, value); });
}
void Hdf5Writer::attribute(const std::string& object, const std::string& name, bool value) {
  on_root([&] { storage_->attribute(object, name, value); });
}
void Hdf5Writer::attribute(const std::string& object, const std::string& name,
                           std::span<const std::int64_t> values) {
  on_root([&] { storage_->attribute(object, name, values); });
}

void Hdf5Writer::dataset(const std::string& name, const Shape& shape, std::span<const double> values) {
  on_root([&] { storage_->dataset(name, shape, values); });
}
void Hdf5Writer::dataset(const std::string& name, const Shape& shape, std::span<const std::int64_t> values) {
  on_root([&] { storage_->dataset(name, shape, values); });
}
void Hdf5Writer::dataset(const std::string& name, const std::vector<bool>& values) {
  on_root([&] { storage_->dataset(name, values); });
}
void Hdf5Writer::dataset(const std::string& name, const std::vector<std::string>& texts) {
  on_root([&] { storage_->dataset(name, texts); });
}

void Hdf5Writer::rows(const std::string& name, const Shape& shape, std::int64_t first,
                      std::span<const double> values) {
  write_rows(name, shape, first, Hdf5Element::float64, std::as_bytes(values));
}
void Hdf5Writer::rows(const std::string& name, const Shape& shape, std::int64_t first,
                      std::span<const float> values) {
  write_rows(name, shape, first, Hdf5Element::float32, std::as_bytes(values));
}
void Hdf5Writer::rows(const std::string& name, const Shape& shape, std::int64_t first,
                      std::span<const std::int64_t> values) {
  write_rows(name, shape, first, Hdf5Element::int64, std::as_bytes(values));
}
void Hdf5Writer::rows(const std::string& name, const Shape& shape, std::int64_t first,
                      std::span<const std::int32_t> values) {
  write_rows(name, shape, first, Hdf5Element::int32, std::as_bytes(values));
}

std::int64_t Hdf5Writer::place(const std::string& name, const Shape& shape, std::int64_t first,
                               Hdf5Element element) {
  std::int64_t place = 0;
  on_root([&] { place = storage_->place(name, shape, element); });
  const std::int64_t row = std::accumulate(shape.begin() + 1, shape.end(),
                                           static_cast<std::int64_t>(bytes_of(element)), std::multiplies<>());
  return comm_.sum(place) + first * row;
}

void Hdf5Writer::write_rows(const std::string& name, const Shape& shape, std::int64_t first, Hdf5Element element,
                            std::span<const std::byte> bytes) {
  const std::int64_t at = place(name, shape, first, element);
  comm_.collectively([&] {
    if (bytes.empty()) return;
    const OpenFile file(partial_, O_WRONLY);
    if (!file.ok()) fail(path_, "opening it to write");
    if (!file.write_at(at, bytes)) fail(path_, "writing");
    // Some file systems find out only now that the disk is full.
    if (::fsync(file.descriptor()) != 0) fail(path_, "writing");
  });
}

void Hdf5Writer::commit() {
  on_root([&] {
    storage_->save();
    if (::rename(partial_.c_str(), path_.c_str()) != 0) fail(path_, "putting the file in its place");
    storage_.reset();
  });
  unfinished_.reset();
}

}  // namespace block_eigs
