#include "kiln/runtime/io/device_tensor.h"

#include <cstring>
#include <sys/mman.h>

#include "kiln/base/sanitized.h"
#include "kiln/runtime/hal/driver.h"
#include "kiln/targets/drivers.h"
#include "gtest/gtest.h"

namespace kiln::io {
namespace {

class DeviceTensorTest : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    hal::registerDrivers(registry);
    Result<Ref<hal::Device>> opened = registry.createDevice(GetParam());
    ASSERT_TRUE(opened.ok()) << opened.status().toString();
    device = *opened;
  }

  hal::DriverRegistry registry;
  Ref<hal::Device> device;
};

TEST_P(DeviceTensorTest, RoundTrip) {
  Result<HostTensor> tensor = HostTensor::zeros(ElementType::I32, {2, 3});
  ASSERT_TRUE(tensor.ok());
  int32_t values[] = {1, -2, 3, 4, 5, 6};
  std::memcpy(tensor->bytes().data(), values, sizeof(values));
  Result<Ref<hal::BufferView>> view = toDevice(*device, *std::move(tensor));
  ASSERT_TRUE(view.ok()) << view.status().toString();
  EXPECT_EQ((*view)->typeText(), "2x3xi32");
  Result<MappedTensor> mapped = MappedTensor::map(**view);
  ASSERT_TRUE(mapped.ok()) << mapped.status().toString();
  *view = nullptr; // the mapping keeps what it needs
  EXPECT_EQ(mapped->span().typeText(), "2x3xi32");
  ASSERT_EQ(mapped->span().bytes.size(), sizeof(values));
  EXPECT_EQ(std::memcmp(mapped->span().bytes.data(), values, sizeof(values)), 0);
}

TEST_P(DeviceTensorTest, EmptyTensors) {
  Result<HostTensor> tensor = HostTensor::zeros(ElementType::F32, {0, 4});
  ASSERT_TRUE(tensor.ok());
  Result<Ref<hal::BufferView>> view = toDevice(*device, *std::move(tensor));
  ASSERT_TRUE(view.ok()) << view.status().toString();
  Result<MappedTensor> mapped = MappedTensor::map(**view);
  ASSERT_TRUE(mapped.ok()) << mapped.status().toString();
  EXPECT_EQ(mapped->span().bytes.size(), 0u);
}

// Devices that share the host's memory use inputs in place, so that no call copies them.
TEST_P(DeviceTensorTest, InputsAreUsedInPlaceAndReadOnly) {
  Result<HostTensor> tensor = HostTensor::zeros(ElementType::F32, {1024});
  ASSERT_TRUE(tensor.ok());
  const void *bytes = tensor->bytes().data();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes) % HostTensor::kAlignment, 0u);
  Result<Ref<hal::BufferView>> view = toDevice(*device, *std::move(tensor));
  ASSERT_TRUE(view.ok());
  EXPECT_EQ((*view)->buffer()->hostPointer(), bytes);
  EXPECT_EQ(device->allocator().statistics().hostLocal.allocated, 0u);
  std::byte byte{};
  EXPECT_TRUE((*view)->buffer()->write(0, {&byte, 1}).ok()) << "it may be given away";
}

// Zeros that nobody wrote must not all be the kernel's one page of zeros.
TEST_P(DeviceTensorTest, ZerosHaveMemoryOfTheirOwn) {
  if (kSanitized)
    GTEST_SKIP() << "a sanitizer's allocator touches what it gives out";
  constexpr uint64_t size = 64 << 20, page = 4096;
  Result<HostTensor> tensor = HostTensor::zeros(ElementType::I8, {size});
  ASSERT_TRUE(tensor.ok());
  auto residentPages = [&](const void *start) {
    uintptr_t first = (reinterpret_cast<uintptr_t>(start) + page - 1) / page * page;
    std::vector<unsigned char> resident(size / page - 1);
    EXPECT_EQ(mincore(reinterpret_cast<void *>(first), resident.size() * page, resident.data()), 0);
    size_t count = 0;
    for (unsigned char flags : resident)
      count += flags & 1;
    return count;
  };
  EXPECT_LT(residentPages(tensor->bytes().data()), size / page / 2);
  Result<Ref<hal::BufferView>> view = toDevice(*device, *std::move(tensor));
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(residentPages((*view)->buffer()->hostPointer()), size / page - 1);
}

INSTANTIATE_TEST_SUITE_P(Devices, DeviceTensorTest, testing::Values("local-sync", "local-task"));

} // namespace
} // namespace kiln::io
