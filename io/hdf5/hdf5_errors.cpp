#include "io/hdf5/hdf5_errors.hpp"

#include <hdf5.h>

namespace block_eigs {

QuietHdf5::QuietHdf5() {
  H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

QuietHdf5::~QuietHdf5() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }

void start_hdf5_for_good() {
  // What fails here fails again where it matters, and is told there.
  H5dont_atexit();
  H5open();
}

std::string hdf5_failure() {
  std::string text;
  const auto keep_innermost = [](unsigned n, const H5E_error2_t* entry, void* out) -> herr_t {
    if (n == 0 && entry->desc != nullptr) *static_cast<std::string*>(out) = entry->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, &text);
  return text.empty() ? "HDF5 gives no reason" : text;
}

}  // namespace block_eigs
