#include "kiln/runtime/parameters/parameter_set.h"

#include "gtest/gtest.h"

#include "kiln/base/testing/test_folder.h"
#include "kiln/runtime/hal/driver.h"
#include "kiln/schema/parameters/irpa_writer.h"
#include "kiln/targets/drivers.h"

#include <algorithm>
#include <filesystem>

namespace kiln {
namespace {

using Bytes = std::vector<std::byte>;

class ParameterSetTest : public ::testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    ASSERT_TRUE(installPageLossHandler().ok());
    hal::registerDrivers(registry);
    auto opened = registry.createDevice(GetParam());
    ASSERT_TRUE(opened.ok()) << opened.status().toString();
    device = *opened;
  }

  std::string write(const char *name, std::vector<ParameterContents> contents) {
    const std::string path = folder.file(name);
    EXPECT_TRUE(writeIrpa(path, contents).ok());
    return path;
  }
  static Bytes numbers(size_t count) {
    Bytes bytes(count);
    for (size_t i = 0; i < count; ++i)
      bytes[i] = std::byte(i * 37 + i / 256);
    return bytes;
  }
  static Bytes contents(hal::Buffer &buffer) {
    Bytes bytes(buffer.byteLength());
    EXPECT_TRUE(buffer.read(0, bytes).ok());
    return bytes;
  }

  hal::DriverRegistry registry;
  Ref<hal::Device> device;
  TestFolder folder;
};

TEST_P(ParameterSetTest, EachIsThereOnceAndOnlyRead) {
  const Bytes data = numbers(100000);
  const std::string path = write("a.irpa", {{.key = "data", .length = data.size(), .bytes = data},
                                            {.key = "splat", .length = 12, .pattern = numbers(4), .isStored = false}});
  for (ParameterMode mode : {ParameterMode::File, ParameterMode::Preload}) {
    auto set = makeRef<ParameterSet>(mode);
    ASSERT_TRUE(set->add("model", path).ok());
    auto first = set->load(*device, "model", "data", data.size());
    ASSERT_TRUE(first.ok()) << first.status().toString();
    EXPECT_TRUE(contents(**first) == data);
    EXPECT_EQ(set->load(*device, "model", "data", data.size())->get(), first->get());
    EXPECT_EQ((*first)->access(), hal::MemoryAccess::Read);
    EXPECT_FALSE((*first)->write(0, numbers(4)).ok());
    auto splat = set->load(*device, "model", "splat", 12);
    ASSERT_TRUE(splat.ok()) << splat.status().toString();
    EXPECT_EQ((*splat)->access(), hal::MemoryAccess::Read);
    Bytes expected;
    for (int i = 0; i < 3; ++i)
      std::ranges::copy(numbers(4), std::back_inserter(expected));
    EXPECT_TRUE(contents(**splat) == expected);
    // Another device has its own.
    auto other = *registry.createDevice(GetParam());
    auto there = set->load(*other, "model", "data", data.size());
    ASSERT_TRUE(there.ok()) << there.status().toString();
    EXPECT_NE(there->get(), first->get());
    EXPECT_TRUE(contents(**there) == data);
  }
}

TEST_P(ParameterSetTest, SaysWhatIsMissing) {
  auto set = makeRef<ParameterSet>();
  const Bytes data = numbers(8);
  EXPECT_NE(set->load(*device, "", "w", 8)
                .status()
                .message()
                .find("no file of parameters without a scope; --parameters=FILE"),
            std::string::npos);
  ASSERT_TRUE(set->add("model", write("one.irpa", {{.key = "layer.weight", .length = 8, .bytes = data}})).ok());
  EXPECT_NE(set->load(*device, "modle", "w", 8).status().message().find("of scope 'modle'; --parameters=modle=FILE"),
            std::string::npos);
  EXPECT_NE(set->load(*device, "model", "layer.wieght", 8).status().message().find("there is 'layer.weight'"),
            std::string::npos);
  EXPECT_NE(set->load(*device, "model", "layer.weight", 16).status().message().find("has 8 bytes in"),
            std::string::npos);
  // A second file of the scope, with others.
  ASSERT_TRUE(set->add("model", write("two.irpa", {{.key = "layer.bias", .length = 8, .bytes = data}})).ok());
  EXPECT_TRUE(set->load(*device, "model", "layer.bias", 8).ok());
  EXPECT_NE(set->add("model", write("three.irpa", {{.key = "layer.bias", .length = 8, .bytes = data}}))
                .message()
                .find("is in '"),
            std::string::npos);
}

// A file that loses its end does not end the process, and is told.
TEST_P(ParameterSetTest, AFileThatIsCutOffIsAnError) {
  const Bytes data = numbers(1 << 20);
  const std::string path = write("cut.irpa", {{.key = "data", .length = data.size(), .bytes = data}});
  auto set = makeRef<ParameterSet>();
  ASSERT_TRUE(set->add("", path).ok());
  std::filesystem::resize_file(path, 4096);
  auto loaded = set->load(*device, "", "data", data.size());
  if (!loaded.ok()) { // where it was copied
    EXPECT_NE(loaded.status().message().find("was cut off"), std::string::npos);
    return;
  }
  Bytes bytes(data.size());
  EXPECT_NE((*loaded)->read(0, bytes).message().find("was cut off"), std::string::npos);
  EXPECT_FALSE((*loaded)->checkReadable().ok());
}

TEST(SplitScope, PathsMayHoldEquals) {
  EXPECT_EQ(splitScope("model=a.irpa"), std::pair(std::string("model"), std::string("a.irpa")));
  EXPECT_EQ(splitScope("a.irpa"), std::pair(std::string(), std::string("a.irpa")));
  EXPECT_EQ(splitScope("/x=1/a.irpa"), std::pair(std::string(), std::string("/x=1/a.irpa")));
  EXPECT_EQ(splitScope("model=/x=1/a.irpa"), std::pair(std::string("model"), std::string("/x=1/a.irpa")));
}

INSTANTIATE_TEST_SUITE_P(Devices, ParameterSetTest, ::testing::Values("local-sync", "discrete"),
                         [](const auto &name) { return std::string(name.param) == "discrete" ? "discrete" : "sync"; });

} // namespace
} // namespace kiln
