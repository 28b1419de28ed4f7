#include "apps/report/text.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "io/config/nearest_name.hpp"

namespace block_eigs {
namespace {

TEST(Text, Durations) {
  EXPECT_EQ(duration_text(0.0), "0.00 s");
  EXPECT_EQ(duration_text(1.234), "1.23 s");
  EXPECT_EQ(duration_text(9.96), "10.0 s");
  EXPECT_EQ(duration_text(99.6), "1 min 40 s");
  EXPECT_EQ(duration_text(3599.4), "59 min 59 s");
  EXPECT_EQ(duration_text(7530.0), "2 h 5 min");
}

TEST(Text, Bytes) {
  EXPECT_EQ(bytes_text(0.0), "0 B");
  EXPECT_EQ(bytes_text(999.0), "999 B");
  EXPECT_EQ(bytes_text(1500.0), "1.5 kB");
  EXPECT_EQ(bytes_text(999999.0), "1.0 MB");
  EXPECT_EQ(bytes_text(144e6), "144 MB");
  EXPECT_EQ(bytes_text(2.5e12), "2.5 TB");
}

TEST(Text, Counts) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1000), "1,000");
  EXPECT_EQ(count_text(1234567), "1,234,567");
  EXPECT_EQ(count_text(-123), "-123");
  EXPECT_EQ(count_text(-123456), "-123,456");
  EXPECT_EQ(count_text(std::numeric_limits<std::int64_t>::max()), "9,223,372,036,854,775,807");
}

TEST(Text, NumbersThatStayOnTheirSideOfOthers) {
  EXPECT_EQ(text_apart(2.5, 1.0), "2.5");
  EXPECT_EQ(text_apart(0.03842518338043031, 1e-3), "0.03842518338");
  EXPECT_EQ(text_apart(0.03842518338043031, 4e-14), "0.03842518338043");
  EXPECT_EQ(text_apart(132.37464955, 1e-10), "132.37464955");
  EXPECT_EQ(text_apart(-1.0 / 3.0, 0.0), "-0.3333333333333333");
  EXPECT_EQ(text_apart(1e-310, 0.0), "1e-310");
}

TEST(Text, Ranges) {
  EXPECT_EQ(ranges_text({}), "");
  EXPECT_EQ(ranges_text({false, false}), "");
  EXPECT_EQ(ranges_text({true}), "1");
  EXPECT_EQ(ranges_text({true, true, false, true, false, true, true, true}), "1-2, 4, 6-8");
}

TEST(NearestName, FindsWhatWasMeant) {
  const std::vector<std::string> names{"pairs", "which", "tolerance", "max_iterations", "block_size"};
  EXPECT_EQ(nearest_name("pears", names), "pairs");
  EXPECT_EQ(nearest_name("tolerence", names), "tolerance");
  EXPECT_EQ(nearest_name("wihch", names), "which");
  EXPECT_EQ(nearest_name("maxiterations", names), "max_iterations");
  EXPECT_EQ(nearest_name("blocksize", names), "block_size");
  EXPECT_EQ(nearest_name("colour", names), "");
  EXPECT_EQ(nearest_name("x", {}), "");
}

}  // namespace
}  // namespace block_eigs
