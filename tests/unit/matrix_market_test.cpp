// Matrix Market text by hand: header, entries, and what is wrong with them.
#include <gtest/gtest.h>

#include "io/formats/matrix_market_entries.hpp"
#include "io/formats/matrix_market_header.hpp"
#include "spmm/error.hpp"

namespace block_eigs {
namespace {

using Header = MatrixMarketHeader;

std::string header_error(const std::string& text) {
  try {
    parse_matrix_market_header(text, "/f.mtx");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(MatrixMarketHeader, SaysWhatIsToCome) {
  const std::string text = "%%MatrixMarket matrix coordinate integer symmetric\r\n% a\n\n%b\n 5 5 7 \r\n";
  const Header header = parse_matrix_market_header(text, "/f.mtx");
  EXPECT_EQ(header.format, Header::Format::coordinate);
  EXPECT_EQ(header.field, Header::Field::integer);
  EXPECT_EQ(header.symmetry, Header::Symmetry::symmetric);
  EXPECT_EQ(header.rows, 5);
  EXPECT_EQ(header.columns, 5);
  EXPECT_EQ(header.entries, 7);
  EXPECT_EQ(header.size_line, 5);
  EXPECT_EQ(header.body_offset, static_cast<std::int64_t>(text.size()));
}

TEST(MatrixMarketHeader, OfAnArrayCountsItsNumbers) {
  const Header header =
      parse_matrix_market_header("%%MatrixMarket matrix array real general\n1000000 3000000\n", "/f.mtx");
  EXPECT_EQ(header.format, Header::Format::array);
  EXPECT_EQ(header.entries, 3000000000000);
  EXPECT_NE(header_error("%%MatrixMarket matrix array real general\n9000000000000000000 2\n").find("line 2"),
            std::string::npos);
}

TEST(MatrixMarketHeader, NamesTheWordThatIsWrong) {
  const std::string begin = "%%MatrixMarket matrix coordinate ";
  EXPECT_NE(header_error(begin + "complex general\n1 1 1\n").find("complex"), std::string::npos);
  EXPECT_NE(header_error(begin + "real\n1 1 1\n").find("4 words"), std::string::npos);
  EXPECT_NE(header_error(begin + "pattern skew-symmetric\n1 1 1\n").find("skew"), std::string::npos);
  EXPECT_NE(header_error(begin + "real general\n% c\n1 1\n").find("line 3"), std::string::npos);
  EXPECT_NE(header_error(begin + "real general\n1 1 99999999999999999999\n").find("99999999999999999999"),
            std::string::npos);
}

Header square(GlobalIndex n, Header::Symmetry symmetry = Header::Symmetry::general) {
  Header header;
  header.rows = header.columns = n;
  header.symmetry = symmetry;
  return header;
}

TEST(MatrixMarketEntries, NumbersInEverySpelling) {
  std::vector<Triplet> triplets;
  EntryCounts counts;
  parse_coordinate_lines(
      "1 1 1\n2\t2 -2.5e-3\r\n  3 3 +4\n%no\n\n4 4 1.5D2\n5 5 .5\n6 6 7.\n7 7 1e-5000\n8 8 4.9e-324\n9 9 "
      "0.1000000000000000055511151231257827021181583404541015625",
      square(9), triplets, counts);
  const std::vector<double> values{1, -2.5e-3, 4, 150, 0.5, 7, 0, 4.9e-324, 0.1};
  ASSERT_EQ(triplets.size(), values.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    EXPECT_EQ(triplets[k].row, static_cast<GlobalIndex>(k));
    EXPECT_EQ(triplets[k].column, static_cast<GlobalIndex>(k));
    EXPECT_EQ(triplets[k].value, values[k]);
  }
  EXPECT_EQ(counts.entries, 9);
}

TEST(MatrixMarketEntries, OneTriangleIsMirrored) {
  for (const auto symmetry : {Header::Symmetry::symmetric, Header::Symmetry::skew_symmetric}) {
    std::vector<Triplet> triplets;
    EntryCounts counts;
    parse_coordinate_lines("3 1 5\n1 2 7\n", square(3, symmetry), triplets, counts);
    ASSERT_EQ(triplets.size(), 4U);
    EXPECT_EQ(triplets[1].row, 0);
    EXPECT_EQ(triplets[1].column, 2);
    EXPECT_EQ(triplets[1].value, symmetry == Header::Symmetry::symmetric ? 5 : -5);
    EXPECT_EQ(counts.entries, 2);
    EXPECT_EQ(counts.below, 1);
    EXPECT_EQ(counts.above, 1);
  }
}

TEST(MatrixMarketEntries, ErrorsPointAtTheirLine) {
  const std::string good = "1 1 1\n2 2 2\n";
  for (const std::string bad : {"x 1 1",   "1 y 1",   "1 1 z",   "1 1",       "1",       "0 1 1",   "1 4 1",
                                "4 1 1",   "1 1 1 1", "1 1 inf", "1 1 1e999", "-1 1 1",  "1.0 1 1", "1 1 0x10",
                                "1 1 1-2", "1,1,1",   "1 1 1e",  "1 1 +-5",   "1 1 ++5", "1 1 +",   "\x01"}) {
    SCOPED_TRACE(bad);
    const std::string text = good + bad + "\n3 3 3\n";
    std::vector<Triplet> triplets;
    EntryCounts counts;
    try {
      parse_coordinate_lines(text, square(3), triplets, counts);
      ADD_FAILURE() << "taken";
    } catch (const EntryError& error) {
      EXPECT_GE(error.at() - text.data(), static_cast<std::ptrdiff_t>(good.size()));
      EXPECT_LE(error.at() - text.data(), static_cast<std::ptrdiff_t>(good.size() + bad.size()));
    }
  }
}

}  // namespace
}  // namespace block_eigs
