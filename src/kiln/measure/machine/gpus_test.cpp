#include "kiln/measure/machine/gpus.h"

#include <gtest/gtest.h>

#include "kiln/measure/machine/test_files.h"

namespace kiln::measure {
namespace {

TEST(Gpus, AreListedByTheFoldersOfDrivers) {
  FakeRoot root;
  root.write("/proc/driver/fast/version", "FAST version: Fast x86_64 Kernel Module  550.54.15  Tue Mar  5");
  for (const char *bus : {"0000:01:00.0", "0000:41:00.0"})
    root.write(fmt::format("/proc/driver/fast/gpus/{}/information", bus),
               "Model: \t\t Fast 9000\nIRQ:   \t\t 24\nBus Location: \t 0000:01:00.0");
  root.write("/proc/driver/rtc", "no driver of GPUs");
  // The same device once more, as a card of the display system.
  root.write("/sys/class/drm/card0/device/uevent", "DRIVER=fast\nPCI_ID=10DE:2335\n");
  std::vector<Gpu> gpus = listGpus(SystemFiles(root.path));
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0].name, Fact::of("Fast 9000"));
  EXPECT_EQ(gpus[0].driver, Fact::of("fast 550.54.15"));
  EXPECT_FALSE(gpus[0].maximumMegahertz.available());
  EXPECT_EQ(gpus[0], gpus[1]) << "where it is plugged in makes no other hardware";
}

TEST(Gpus, AreListedAsCards) {
  FakeRoot root;
  root.write("/sys/class/drm/card0/device/uevent", "DRIVER=plain\nPCI_CLASS=30000\nPCI_ID=1002:744C\n");
  root.write("/sys/class/drm/card0/gt_max_freq_mhz", "1450");
  root.write("/sys/class/drm/card0-DP-1/status", "connected");
  root.write("/sys/class/drm/card1/device/uevent", "PCI_ID=1002:0001\n");
  root.write("/sys/class/drm/renderD128/device/uevent", "DRIVER=plain\nPCI_ID=1002:744C\n");
  root.write("/sys/class/drm/version", "drm 1.1.0 20060810");
  root.write("/sys/module/plain/version", "6.3.6");
  std::vector<Gpu> gpus = listGpus(SystemFiles(root.path));
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0].name, Fact::of("1002:0001"));
  EXPECT_FALSE(gpus[0].driver.available());
  EXPECT_EQ(gpus[1], (Gpu{Fact::of("1002:744C"), Fact::of("plain 6.3.6"), Fact::of("1450")}));
  EXPECT_TRUE(listGpus(SystemFiles(root.path + "/nothing")).empty());
}

} // namespace
} // namespace kiln::measure
