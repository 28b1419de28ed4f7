// Headers of .npy arrays as NumPy writes them, spelled out byte by byte.
#include "io/formats/npy_header.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>

#include "spmm/error.hpp"

namespace block_eigs {
namespace {

std::string head(const std::string& dictionary, int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += {static_cast<char>(version), '\0', static_cast<char>(dictionary.size()), '\0'};
  if (version > 1) bytes += {'\0', '\0'};
  return bytes + dictionary;
}

TEST(NpyHeader, SaysTypeAndShape) {
  const NpyHeader header =
      parse_npy_header(head("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 41), }   \n"), "a");
  EXPECT_EQ(header.kind, 'f');
  EXPECT_EQ(header.width, 8);
  EXPECT_FALSE(header.big_endian);
  EXPECT_FALSE(header.fortran_order);
  EXPECT_EQ(header.shape, (std::vector<std::int64_t>{3, 41}));
  EXPECT_EQ(header.size(), 123);
  EXPECT_EQ(header.type_name(), "float64");
}

TEST(NpyHeader, OfLaterVersionsAndOtherTypes) {
  const NpyHeader list =
      parse_npy_header(head("{'descr': '>i4', 'fortran_order': True, 'shape': (7,), }\n", 2), "a");
  EXPECT_TRUE(list.big_endian);
  EXPECT_TRUE(list.fortran_order);
  EXPECT_EQ(list.size(), 7);
  EXPECT_EQ(list.type_name(), "int32");
  const NpyHeader scalar =
      parse_npy_header(head("{'descr': '|S3', 'fortran_order': False, 'shape': (), }\n", 3), "a");
  EXPECT_EQ(scalar.size(), 1);
  EXPECT_FALSE(is_npy_number(scalar));
}

TEST(NpyHeader, BrokenOnesAreRefused) {
  for (const std::string& bytes :
       {std::string("rubbish, rubbish"), std::string("\x93NUMPY"), head("{'descr': '<f8'}"), head("{}"),
        head("{'descr': '', 'shape': ()"), head("{'descr': '<f8', 'fortran_order': False, 'shape': 7, }"),
        head("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (7,), }"),
        head("{'descr': '<f8', 'fortran_order': False, 'shape': (7,), }").substr(0, 30),
        head("{'descr': '<f8', 'fortran_order': False, 'shape': (-7,), }"),
        head("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,), }"),
        head("{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693952, 8), }"),
        head("{'descr': '|S9', 'fortran_order': False, 'shape': (2305843009213693952,), }"),
        head("{'descr': '<f99999999999999999999', 'fortran_order': False, 'shape': (7,), }")}) {
    EXPECT_THROW(parse_npy_header(bytes, "a"), InputError) << bytes;
  }
}

TEST(NpyHeader, ConvertsEveryWidthAndOrder) {
  NpyHeader header;
  std::array<double, 2> values{};
  std::array<std::int64_t, 2> integers{};
  header.kind = 'i';
  header.width = 2;
  header.big_endian = true;
  convert_npy(header, "\xff\xfe\x01\x02", 2, values.data());
  EXPECT_EQ(values, (std::array{-2.0, 258.0}));
  header.kind = 'u';
  convert_npy(header, "\xff\xfe\x01\x02", 2, integers.data());
  EXPECT_EQ(integers, (std::array<std::int64_t, 2>{65534, 258}));
  header.kind = 'b';
  header.width = 1;
  convert_npy(header, "\x01\x00", 2, values.data());
  EXPECT_EQ(values, (std::array{1.0, 0.0}));
  header.kind = 'u';
  header.width = 8;
  convert_npy(header, "\xff\xff\xff\xff\xff\xff\xff\xff", 1, integers.data());
  EXPECT_LT(integers[0], 0);  // never a valid index
  header.kind = 'f';
  header.width = 4;
  convert_npy(header, "\x3f\xc0\x00\x00", 1, values.data());
  EXPECT_EQ(values[0], 1.5);
}

}  // namespace
}  // namespace block_eigs
