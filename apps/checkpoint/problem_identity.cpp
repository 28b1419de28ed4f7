#include "apps/checkpoint/problem_identity.hpp"

#include <span>
#include <utility>

#include <fmt/format.h>

#include "io/checkpoint/digest.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

constexpr const char* digest_prefix = "digest of ";

std::string hexadecimal(std::uint64_t digest) { return fmt::format("{:016x}", digest); }

}  // namespace

ProblemIdentity::ProblemIdentity(const Communicator& comm, std::string file, Identity options)
    : comm_(comm), file_(std::move(file)), known_(std::move(options)) {}

void ProblemIdentity::compare_with(Identity before) {
  Identity options = before;
  std::erase_if(options, [](const auto& entry) { return entry.first.starts_with(digest_prefix); });
  const std::string other = difference(options, known_);
  comm_.collectively(
      [&] { require(other.empty(), fmt::format("checkpoint: {} belongs to another problem: {}", file_, other)); });
  before_ = std::move(before);
}

void ProblemIdentity::watch(Sources& sources) {
  const auto watched = [this](std::unique_ptr<MatrixSource>& source) {
    auto digested = std::make_unique<DigestedMatrix>(std::move(source));
    const DigestedMatrix* at = digested.get();
    source = std::move(digested);
    return [this, at] { return at->digest()->over(comm_); };
  };
  matrix_digest_ = watched(sources.a);
  if (sources.b) mass_digest_ = watched(sources.b);
}

void ProblemIdentity::add_matrices(GlobalIndex rows) {
  add("matrix", fmt::format("{} rows {}", rows, hexadecimal(matrix_digest_())));
  add("mass", mass_digest_ ? hexadecimal(mass_digest_()) : "none");
}

template <class T>
void ProblemIdentity::add_vectors(const std::string& what, const DenseBlock<T>& vectors, const RowLayout& layout) {
  const std::vector<T> values = in_file_order(layout, vectors.view());
  const LocalIndex columns = vectors.cols();
  Digest digest;
  digest.add_by_threads(static_cast<std::uint64_t>(layout.file.begin(comm_.rank()) * columns),
                        std::span<const T>(values));
  add(what, fmt::format("{} columns {}", columns, hexadecimal(digest.over(comm_))));
}

void ProblemIdentity::add(const std::string& what, const std::string& digest) {
  const std::string name = digest_prefix + what;
  known_[name] = digest;
  if (!before_) return;
  const auto there = before_->find(name);
  const bool same = (there == before_->end() ? "" : there->second) == digest;
  comm_.collectively([&] {
    require(same, fmt::format("checkpoint: {} belongs to another problem: the {} is another one", file_, what));
  });
}

template void ProblemIdentity::add_vectors(const std::string&, const DenseBlock<float>&, const RowLayout&);
template void ProblemIdentity::add_vectors(const std::string&, const DenseBlock<double>&, const RowLayout&);

}  // namespace block_eigs
