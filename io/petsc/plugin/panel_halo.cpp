#include "io/petsc/plugin/panel_halo.hpp"

#include <cstddef>

namespace block_eigs::petsc {

namespace {

constexpr int tag = 2;

}  // namespace

PanelHalo::PanelHalo(const Communicator& comm, const Partition& columns,
                     std::span<const GlobalIndex> ghost_columns)
    : comm_(comm), plan_(comm, columns, ghost_columns) {
  row_types_.fill(MPI_DATATYPE_NULL);
}

PanelHalo::~PanelHalo() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0) return;
  for (MPI_Datatype& type : row_types_) {
    if (type != MPI_DATATYPE_NULL) MPI_Type_free(&type);
  }
}

void PanelHalo::begin(const double* b, std::int64_t leading, int count, int width) {
  const auto row_size = static_cast<std::size_t>(width);
  received_.resize(static_cast<std::size_t>(plan_.ghosts()) * row_size);
  packed_.resize(plan_.rows_to_send().size() * row_size);
  requests_.clear();
  for (const auto& source : plan_.sources()) {
    MPI_Irecv(received_.data() + static_cast<std::size_t>(source.first) * row_size, source.count, row_type(width),
              source.rank, tag, comm_.handle(), &requests_.emplace_back());
  }
  const auto& rows = plan_.rows_to_send();
  for (int j = 0; j < width; ++j) {
    const double* column = b + j * leading;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      packed_[i * row_size + static_cast<std::size_t>(j)] = j < count ? column[rows[i]] : 0.0;
    }
  }
  for (const auto& destination : plan_.destinations()) {
    MPI_Isend(packed_.data() + static_cast<std::size_t>(destination.first) * row_size, destination.count,
              row_type(width), destination.rank, tag, comm_.handle(), &requests_.emplace_back());
  }
}

void PanelHalo::progress() {
  int done = 0;
  MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
}

const double* PanelHalo::finish() {
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  return received_.data();
}

/// One row as an MPI type, so that counts are rows and stay below 2^31.
MPI_Datatype PanelHalo::row_type(int width) {
  MPI_Datatype& type = row_types_[static_cast<std::size_t>(width)];
  if (type == MPI_DATATYPE_NULL) {
    MPI_Type_contiguous(width, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
  }
  return type;
}

}  // namespace block_eigs::petsc
