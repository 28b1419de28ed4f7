#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/halo_plan.hpp"
#include "spmm/parallel/partition.hpp"
#include "spmm/types.hpp"

namespace block_eigs::petsc {

/// Moves the ghost rows of panels of a column-major block: whole rows of a panel, one message a neighbour, packed
/// straight out of the columns. One exchange at a time.
class PanelHalo {
 public:
  static constexpr int widest = 16;  ///< columns of a panel

  /// `columns` deals the rows of B to ranks; `ghost_columns`: global numbers, ascending. Collective.
  PanelHalo(const Communicator& comm, const Partition& columns, std::span<const GlobalIndex> ghost_columns);
  ~PanelHalo();
  PanelHalo(const PanelHalo&) = delete;
  PanelHalo& operator=(const PanelHalo&) = delete;

  /// Sends the rows that others need of `count` columns at `b`, `leading` apart, as rows of `width` numbers, zeros
  /// behind the first `count`. Collective among neighbours, with `finish`.
  void begin(const double* b, std::int64_t leading, int count, int width);
  /// Moves messages along; call it now and then while own work goes on.
  void progress();
  /// The ghost rows, row-major, `width` numbers each; valid until the next `begin`.
  const double* finish();

 private:
  MPI_Datatype row_type(int width);

  Communicator comm_;
  HaloPlan plan_;
  std::vector<double> received_;
  std::vector<double> packed_;
  std::vector<MPI_Request> requests_;
  std::array<MPI_Datatype, widest + 1> row_types_;  ///< one row of that width, null until it is needed
};

}  // namespace block_eigs::petsc
