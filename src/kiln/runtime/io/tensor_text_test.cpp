#include "kiln/runtime/io/tensor_text.h"

#include <sys/mman.h>

#include "kiln/runtime/io/input.h"
#include "gtest/gtest.h"

namespace kiln::io {
namespace {

std::string format(std::string_view input, uint64_t maxElements = 1024) {
  InputReader reader;
  std::vector<Input> inputs;
  Status status = reader.read(input, inputs);
  EXPECT_TRUE(status.ok()) << status.toString();
  return status.ok() ? formatTensor(std::get<HostTensor>(inputs[0]).span(), maxElements) : "";
}

TEST(TensorTextTest, Ranks) {
  EXPECT_EQ(format("f32=2"), "f32=2");
  EXPECT_EQ(format("4xf32=3 4 5 6"), "4xf32=3 4 5 6");
  EXPECT_EQ(format("2x3xf32=1 2 3 4 5 6"), "2x3xf32=[1 2 3][4 5 6]");
  EXPECT_EQ(format("2x2x2xi8=1 2 3 4 5 6 7 8"), "2x2x2xi8=[[1 2][3 4]][[5 6][7 8]]");
  EXPECT_EQ(format("1x1x1x1xf64=0.5"), "1x1x1x1xf64=[[[0.5]]]");
}

TEST(TensorTextTest, Types) {
  EXPECT_EQ(format("3xi1=1 0 1"), "3xi1=1 0 1");
  EXPECT_EQ(format("2xi8=-1 65"), "2xi8=-1 65");
  EXPECT_EQ(format("2xui8=255 65"), "2xui8=255 65");
  EXPECT_EQ(format("2xbf16=1 -0.5"), "2xbf16=1 -0.5");
  EXPECT_EQ(format("3xf32=inf -inf nan"), "3xf32=inf -inf nan");
}

TEST(TensorTextTest, EmptyTensors) {
  EXPECT_EQ(format("0xf32"), "0xf32=");
  EXPECT_EQ(format("2x0xf32"), "2x0xf32=[][]");
  EXPECT_EQ(format("0x2xf32"), "0x2xf32=");
}

TEST(TensorTextTest, Elision) {
  EXPECT_EQ(format("4xf32=3 4 5 6", 4), "4xf32=3 4 5 6");
  EXPECT_EQ(format("4xf32=3 4 5 6", 2), "4xf32=3 4...");
  EXPECT_EQ(format("4xf32=3 4 5 6", 0), "4xf32=...");
  EXPECT_EQ(format("f32=3", 0), "f32=...");
  EXPECT_EQ(format("2x3xf32=1 2 3 4 5 6", 4), "2x3xf32=[1 2 3][4...]");
  EXPECT_EQ(format("3x2xf32=1 2 3 4 5 6", 3), "3x2xf32=[1 2][3...][...]");
  EXPECT_EQ(format("2x2x1xi8=1 2 3 4", 2), "2x2x1xi8=[[1][2]][[...][...]]");
}

TEST(TensorTextTest, RowsWithoutElementsAreNotTold) {
  std::string empty = format("1000000000000x0x7xf32"), zeros = format("1000000x2xf32", 3);
  EXPECT_TRUE(empty.starts_with("1000000000000x0x7xf32=[][]") && empty.ends_with("[]..."));
  EXPECT_LT(empty.size(), 200'000u);
  EXPECT_TRUE(zeros.starts_with("1000000x2xf32=[0 0][0...][...][...]") && zeros.ends_with("[...]..."));
  EXPECT_LT(zeros.size(), 400'000u);
  std::string all = format("100000x1xi8=1", 100'000);
  EXPECT_TRUE(all.ends_with("[1][1]"));
}

// A tensor of 64 TiB, of which no page is ever there but those of what is printed.
TEST(TensorTextTest, WhatIsNotPrintedIsNotRead) {
  constexpr size_t kBytes = size_t(1) << 46;
  void *pages = ::mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED)
    GTEST_SKIP() << "this system does not lend so many addresses";
  std::span<const uint8_t> bytes(static_cast<const uint8_t *>(pages), kBytes);
  const uint64_t shape[] = {2 * kBytes};
  EXPECT_EQ(formatTensor({hal::ElementType::I4, shape, bytes}, 2), "140737488355328xi4=0 0...");
  ::munmap(pages, kBytes);
}

// What is printed in full is an input that gives the same tensor again.
TEST(TensorTextTest, PrintedTensorsAreInputs) {
  for (const char *text : {"f32=2", "2x3xf32=[1 2 3][4 5 6]", "2x2x2xi8=[[1 2][3 4]][[5 6][7 8]]", "3xi1=1 0 1"})
    EXPECT_EQ(format(text), text);
}

} // namespace
} // namespace kiln::io
