#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "io/source/matrix_source.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// The sum modulo 2^64 of what the ranks have. Collective.
std::uint64_t digest_over(const Communicator& comm, std::uint64_t own);

/// Sum modulo 2^64 of a mixed number for every element, which depends on its place and its bits: the same however
/// elements are dealt to ranks and threads. It finds damage and tells problems apart; it is no protection from ill
/// will.
class Digest {
 public:
  void add(std::uint64_t place, double value);
  void add(std::uint64_t row, std::uint64_t column, double value);
  void add(std::string_view text);
  /// Elements that follow one another from `first` on, by the calling thread. T is float or double.
  template <class T>
  void add(std::uint64_t first, std::span<const T> values);
  /// The same by all threads.
  template <class T>
  void add_by_threads(std::uint64_t first, std::span<const T> values);
  /// Entries of rows, by all threads.
  void add_by_threads(const CsrRows& rows);

  /// Of this rank alone. Not collective.
  std::uint64_t value() const { return sum_; }
  /// Of all ranks. Collective.
  std::uint64_t over(const Communicator& comm) const { return digest_over(comm, sum_); }

 private:
  std::uint64_t sum_ = 0;
};

/// A source that takes note of the entries that are read from it.
class DigestedMatrix final : public MatrixSource {
 public:
  explicit DigestedMatrix(std::unique_ptr<MatrixSource> source) : source_(std::move(source)) {}

  GlobalIndex rows() const override { return source_->rows(); }
  GlobalIndex columns() const override { return source_->columns(); }
  std::string description() const override { return source_->description(); }
  CsrRows read(const Partition& partition) override;
  DeviceEntries resident() const override { return source_->resident(); }

  /// Of the rows that were read last.
  const std::shared_ptr<const Digest>& digest() const { return digest_; }

 private:
  std::unique_ptr<MatrixSource> source_;
  std::shared_ptr<const Digest> digest_ = std::make_shared<Digest>();
};

}  // namespace block_eigs
