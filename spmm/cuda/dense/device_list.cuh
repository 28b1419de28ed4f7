#pragma once

#include "spmm/types.hpp"

namespace block_eigs::cuda {

/// A ViewList as kernels take it.
template <class View>
struct DeviceList {
  View views[ViewList<View>::capacity];
  int size = 0;
  LocalIndex rows = 0;
  LocalIndex cols = 0;

  explicit DeviceList(const ViewList<View>& list) : size(list.size()), rows(list.rows()), cols(list.cols()) {
    for (int v = 0; v < size; ++v) views[v] = list[v];
  }
};

}  // namespace block_eigs::cuda
