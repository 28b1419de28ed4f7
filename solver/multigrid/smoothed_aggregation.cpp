#include "solver/multigrid/smoothed_aggregation.hpp"

#include <utility>

#include "solver/multigrid/device_levels.hpp"

namespace block_eigs {

GridHierarchy smoothed_aggregation(const Communicator& comm, CsrRows rows, const Partition& partition,
                                   const NearNullSpace& near_null_space, const AggregationOptions& options) {
  const auto context = make_context<double>(comm, Backend::host);
  const DistributedMatrix<double> a(context, std::move(rows), partition, partition);
  DeviceNearNullSpace space;
  comm.collectively([&] { space = to_device(context, near_null_space, a.rows()); });
  return to_host(context, smoothed_aggregation(context, a, 0.0, std::move(space), options));
}

}  // namespace block_eigs
