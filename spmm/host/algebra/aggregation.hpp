#pragma once

#include <memory>

#include "spmm/device/sparse_algebra.hpp"

namespace block_eigs::host {

// Of SparseAlgebra, which says what they do.

CouplingGraph couplings(const std::shared_ptr<Device>& device, const CsrView<double>& a, int unknowns,
                        double threshold, double hub_entries, Neighbourhood& ranks);
CsrBuffers<double> filtered(const std::shared_ptr<Device>& device, const CsrView<double>& a, int unknowns,
                            const CouplingStrength& strength);
AggregateMap aggregate(const std::shared_ptr<Device>& device, const CouplingGraph& graph, Neighbourhood& ranks);
TentativeInterpolation tentative(const std::shared_ptr<Device>& device, const AggregateMap& aggregates,
                                 int unknowns, const double* vectors, int modes);

}  // namespace block_eigs::host
