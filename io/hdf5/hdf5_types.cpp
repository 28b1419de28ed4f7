#include "io/hdf5/hdf5_types.hpp"

#include <fmt/format.h>
#include <hdf5.h>

namespace block_eigs {

namespace {

bool is_complex(hid_t type) {
  if (H5Tget_class(type) != H5T_COMPOUND || H5Tget_nmembers(type) != 2) return false;
  return H5Tget_member_class(type, 0) == H5T_FLOAT && H5Tget_member_class(type, 1) == H5T_FLOAT;
}

}  // namespace

Hdf5Kind kind_of(std::int64_t type) {
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
    case H5T_ENUM:
    case H5T_BITFIELD:
      return Hdf5Kind::integer;
    case H5T_FLOAT:
      return Hdf5Kind::floating;
    default:
      return is_complex(type) ? Hdf5Kind::complex : Hdf5Kind::other;
  }
}

std::string name_of_type(std::int64_t type) {
  const auto bits = 8 * H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return fmt::format("{}int{}", H5Tget_sign(type) == H5T_SGN_NONE ? "u" : "", bits);
    case H5T_FLOAT:
      return fmt::format("float{}", bits);
    case H5T_ENUM:
      return "enumeration";
    case H5T_STRING:
      return "string";
    case H5T_COMPOUND:
      return is_complex(type) ? fmt::format("complex{}", bits) : "compound";
    default:
      return "another type";
  }
}

}  // namespace block_eigs
