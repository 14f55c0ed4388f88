#include "kiln/tools/dispatch/sweep/machine_facts.h"

#include <gtest/gtest.h>

#include "kiln/measure/machine/test_files.h"

namespace kiln {
namespace {

using measure::FakeRoot;
using measure::Provenance;
using measure::SystemFiles;

void writeMachine(const FakeRoot &root, const std::string &name) {
  root.write("/proc/sys/kernel/hostname", name);
  root.write("/etc/machine-id", "id of " + name);
  root.write("/proc/cpuinfo",
             "model name\t: Fast CPU\ncpu family\t: 6\nmodel\t\t: 143\nstepping\t: 8\nflags\t\t: avx2");
  root.write("/proc/meminfo", "MemTotal:       65843412 kB");
  root.write("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3500000");
  root.write("/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "3500000");
  root.write("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance");
  root.write("/proc/self/cgroup", "0::/jobs/" + name);
  root.write("/proc/driver/fast/gpus/0000:01:00.0/information", "Model: Fast 9000");
}

store::MachineKeys keysOf(const FakeRoot &root, std::vector<unsigned> processors = {0, 1}) {
  SystemFiles files(root.path);
  Provenance machine = Provenance::detect(files);
  machine.allowedCpus = std::move(processors);
  return machineFacts(machine, files).keys();
}

TEST(MachineFacts, EqualNodesAreNotOneNode) {
  FakeRoot one, two;
  writeMachine(one, "one");
  writeMachine(two, "two");
  two.write("/proc/meminfo", "MemTotal:       65843408 kB"); // a page less
  store::MachineKeys a = keysOf(one), b = keysOf(two);
  EXPECT_NE(a.node, b.node);
  EXPECT_EQ(a.hardware, b.hardware);
  EXPECT_EQ(a.allocation, b.allocation);
  EXPECT_EQ(a, keysOf(one));
}

TEST(MachineFacts, AnotherSetOfProcessorsIsNotAnotherMachine) {
  FakeRoot root;
  writeMachine(root, "one");
  store::MachineKeys a = keysOf(root, {0, 1}), b = keysOf(root, {4, 5});
  EXPECT_EQ(a.node, b.node);
  EXPECT_EQ(a.hardware, b.hardware);
  EXPECT_NE(a.allocation, b.allocation);
  EXPECT_EQ(a.allocation, keysOf(root, {1, 0}).allocation) << "their order says nothing";
}

TEST(MachineFacts, LimitsOfControlGroupsAreTheAllocation) {
  FakeRoot root;
  writeMachine(root, "one");
  store::MachineKeys free = keysOf(root);
  root.write("/sys/fs/cgroup/jobs/cpu.max", "200000 100000");
  store::MachineKeys limited = keysOf(root);
  EXPECT_EQ(free.hardware, limited.hardware);
  EXPECT_NE(free.allocation, limited.allocation);
  SystemFiles files(root.path);
  EXPECT_NE(machineFacts(Provenance::detect(files), files).allocation.find("200000 100000"), std::string::npos);
}

TEST(MachineFacts, HardwareHasGpusDriversAndClockLimits) {
  FakeRoot root;
  writeMachine(root, "one");
  store::MachineKeys before = keysOf(root);
  auto differs = [&](const char *path, const char *text, const char *back) {
    root.write(path, text);
    bool different = keysOf(root).hardware != before.hardware && keysOf(root).node == before.node;
    root.write(path, back);
    return different;
  };
  EXPECT_TRUE(differs("/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "2000000", "3500000"));
  EXPECT_TRUE(differs("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave", "performance"));
  EXPECT_TRUE(differs("/proc/driver/fast/gpus/0000:01:00.0/information", "Model: Slow 10", "Model: Fast 9000"));
  EXPECT_EQ(keysOf(root), before);
  root.write("/proc/driver/fast/version", "FAST module 550.1 of today");
  EXPECT_NE(keysOf(root).hardware, before.hardware) << "another driver";
}

} // namespace
} // namespace kiln
