#include "kiln/tools/bench_model/output_difference.h"

#include <cmath>

#include <gtest/gtest.h>

namespace kiln {
namespace {

io::HostTensor tensor(const std::string &spec) {
  io::InputReader reader;
  std::vector<io::Input> read;
  EXPECT_TRUE(reader.read(spec, read).ok()) << spec;
  return std::move(std::get<io::HostTensor>(read.front()));
}

double differ(const std::string &wanted, const std::string &found) {
  const io::HostTensor a[] = {tensor(wanted)}, b[] = {tensor(found)};
  return differenceOf(a, b);
}

TEST(OutputDifference, IsAShareOfTheLargest) {
  EXPECT_EQ(differ("4xf32=1 2 3 4", "4xf32=1 2 3 4"), 0);
  EXPECT_DOUBLE_EQ(differ("4xf32=1 2 3 4", "4xf32=1 2.5 3 4"), 0.125);
  EXPECT_DOUBLE_EQ(differ("4xf32=0 0 0 0", "4xf32=0 0 0 0"), 0);
  EXPECT_TRUE(std::isinf(differ("2xf32=0 0", "2xf32=0 1")));
}

TEST(OutputDifference, WhatAMaskFillsInHidesNothing) {
  EXPECT_DOUBLE_EQ(differ("5xf32=-1e9 1 2 3 4", "5xf32=-1e9 1 2 3 2"), 0.5);
  EXPECT_DOUBLE_EQ(differ("5xf32=-1e9 1 2 3 4", "5xf32=-5e8 1 2 3 4"), 0.5);
}

TEST(OutputDifference, IntegersAreTheSameOrNot) {
  EXPECT_EQ(differ("2xi64=50001 3", "2xi64=50001 3"), 0);
  EXPECT_TRUE(std::isinf(differ("2xi64=50001 3", "2xi64=50002 3")));
  EXPECT_DOUBLE_EQ(differ("2xi8=100 3", "2xi8=101 3"), 0.01); // of quantized numbers one may be rounded otherwise
}

TEST(OutputDifference, IntegersWithoutASignAreTakenAsTheOtherSideSays) {
  EXPECT_EQ(differ("3xui8=200 3 255", "3xi8=-56 3 -1"), 0);
  EXPECT_EQ(differ("3xi8=-56 3 -1", "3xui8=200 3 255"), 0);
  EXPECT_DOUBLE_EQ(differ("2xui8=200 3", "2xi8=-57 3"), 0.005);
  EXPECT_TRUE(std::isinf(differ("2xui32=7 3", "2xi32=8 3")));
  EXPECT_TRUE(std::isnan(differ("2xui8=7 3", "2xi16=7 3")));
}

TEST(OutputDifference, WhatIsNoNumberIsNotEqual) {
  EXPECT_TRUE(std::isnan(differ("2xf32=nan 1", "2xf32=1 1")));
  EXPECT_EQ(differ("2xf32=nan 1", "2xf32=nan 1"), 0);
  EXPECT_TRUE(std::isnan(differ("2xf32=nan nan", "2xf32=nan nan")));
  EXPECT_TRUE(std::isinf(differ("2xf32=inf 1", "2xf32=3 1")));
  EXPECT_EQ(differ("0xf32", "0xf32"), 0);
  EXPECT_TRUE(std::isnan(differ("2xf32=1 2", "1x2xf32=1 2")));
  EXPECT_TRUE(std::isnan(differ("2xf32=1 2", "2xf64=1 2")));
}

} // namespace
} // namespace kiln
