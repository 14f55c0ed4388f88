#include "kiln/runtime/hal/driver.h"

#include "gtest/gtest.h"

namespace kiln::hal {
namespace {

class NamedDriver final : public Driver {
public:
  explicit NamedDriver(std::string name) : driverName(std::move(name)) {}
  std::string_view name() const override { return driverName; }
  std::string_view description() const override { return "for tests"; }
  Result<std::vector<DeviceInfo>> devices() override { return std::vector<DeviceInfo>(); }
  // Says what it was asked for.
  Result<Ref<Device>> createDevice(const DeviceUri &uri, const DeviceOptions &) override {
    return unavailable("[{}][{}]", uri.driver, uri.path);
  }

private:
  std::string driverName;
};

TEST(DeviceUriTest, ParsesAndPrints) {
  for (const char *text : {"local-task", "cuda://0", "vulkan://GPU-1234/x"}) {
    Result<DeviceUri> uri = DeviceUri::parse(text);
    ASSERT_TRUE(uri.ok()) << uri.status().toString();
    EXPECT_EQ(uri->toString(), text);
  }
  EXPECT_EQ(DeviceUri::parse("cuda://0")->path, "0");
  EXPECT_EQ(DeviceUri::parse("cuda://")->path, "");
  for (const char *text : {"", "://0", "cuda:0", "cuda/0", "a b"})
    EXPECT_EQ(DeviceUri::parse(text).status().code(), StatusCode::InvalidArgument) << text;
}

TEST(DriverRegistryTest, FindsDriversByName) {
  DriverRegistry registry;
  EXPECT_EQ(registry.createDevice("x").status().toString(), "NOT_FOUND: no driver 'x' in this build; it has: none");
  for (const char *name : {"m", "z", "a"})
    registry.add(std::make_unique<NamedDriver>(name));
  ASSERT_EQ(registry.drivers().size(), 3u);
  EXPECT_EQ(registry.drivers()[0]->name(), "a");
  EXPECT_EQ(registry.drivers()[2]->name(), "z");
  EXPECT_EQ((*registry.find("m"))->name(), "m");
  EXPECT_EQ(registry.find("b").status().toString(), "NOT_FOUND: no driver 'b' in this build; it has: a, m, z");
  EXPECT_EQ(registry.createDevice("m://7").status().toString(), "UNAVAILABLE: cannot open device 'm://7': [m][7]");
}

} // namespace
} // namespace kiln::hal
