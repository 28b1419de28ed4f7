#include "io/generate/generate_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "spmm/error.hpp"

namespace block_eigs {

namespace {

class GeneratedMatrix final : public MatrixSource {
 public:
  GeneratedMatrix(const Communicator& comm, GeneratedShape shape, RowsRule rule)
      : comm_(comm), shape_(std::move(shape)), rule_(std::move(rule)) {}

  GlobalIndex rows() const override { return shape_.rows; }
  GlobalIndex columns() const override { return shape_.rows; }
  std::string description() const override { return shape_.description; }

  CsrRows read(const Partition& partition) override {
    check(partition);
    CsrRows out;
    out.row_begin = partition.begin(comm_.rank());
    out.global_rows = out.global_columns = shape_.rows;
    if (shape_.collective) {
      rule_(partition, comm_.rank(), out);
    } else {
      comm_.collectively([&] { rule_(partition, comm_.rank(), out); });
    }
    return out;
  }

 private:
  // The partition is the same on all ranks, so that all throw or none.
  void check(const Partition& partition) const {
    require(partition.rows() == shape_.rows && partition.parts() == comm_.size(),
            fmt::format("{}: has {} rows for {} ranks, the partition {} rows in {} parts", shape_.description,
                        shape_.rows, comm_.size(), partition.rows(), partition.parts()));
  }

  Communicator comm_;
  GeneratedShape shape_;
  RowsRule rule_;
};

}  // namespace

std::unique_ptr<MatrixSource> generated_matrix(const Communicator& comm, GeneratedShape shape, RowsRule rule) {
  return std::make_unique<GeneratedMatrix>(comm, std::move(shape), std::move(rule));
}

GlobalIndex grid_rows(const std::string& generator, const std::vector<GlobalIndex>& size, int dimensions,
                      int unknowns) {
  require(static_cast<int>(size.size()) == dimensions,
          fmt::format("{}: size has {} entries, it needs {}", generator, size.size(), dimensions));
  GlobalIndex rows = unknowns;
  for (const GlobalIndex n : size) {
    require(n >= 1, fmt::format("{}: size {} must be positive in every direction", generator, shape_text(size)));
    require(rows <= (GlobalIndex{1} << 60) / n,
            fmt::format("{}: size {} is more than 2^60 rows", generator, shape_text(size)));
    rows *= n;
  }
  return rows;
}

std::string shape_text(const std::vector<GlobalIndex>& size) { return fmt::format("{}", fmt::join(size, " x ")); }

}  // namespace block_eigs
