#include "kiln/measure/machine/provenance.h"

#include <gtest/gtest.h>
#include <sched.h>

#include "kiln/measure/machine/test_files.h"

namespace kiln::measure {
namespace {

using Cpus = std::vector<unsigned>;

TEST(SystemFiles, CpuLists) {
  EXPECT_EQ(parseCpuList("0"), Cpus{0});
  EXPECT_EQ(parseCpuList("0-3,8,10-11"), (Cpus{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(parseCpuList(""), Cpus{});
  for (const char *text : {"a", "1-", "-1", "3-1", "1,,2", "0-4294967295", "0-70000", "1 2", "99999999999999999999"})
    EXPECT_EQ(parseCpuList(text), std::nullopt) << text;
}

TEST(SystemFiles, CacheSizes) {
  EXPECT_EQ(parseCacheSize("48K"), 48U << 10);
  EXPECT_EQ(parseCacheSize("32M"), 32U << 20);
  EXPECT_EQ(parseCacheSize("512"), 512U);
  for (const char *text : {"", "K", "48KB", "-1K", "99999999999999999999K", "18446744073709551615M"})
    EXPECT_EQ(parseCacheSize(text), std::nullopt) << text;
}

TEST(SystemFiles, Fields) {
  EXPECT_EQ(findField("a\t: 1\nmodel name\t: X Y \nmodel name\t: Z\n", "model name"), "X Y");
  EXPECT_EQ(findField("model name: X: 3 GHz", "model name"), "X: 3 GHz");
  EXPECT_EQ(findField("model name", "model name"), std::nullopt);
  EXPECT_EQ(findField("", "x"), std::nullopt);
}

TEST(SystemFiles, WhatIsMissingSaysSo) {
  FakeRoot root;
  root.write("/sys/empty", "");
  root.write("/sys/number", "17");
  SystemFiles files(root.path);
  EXPECT_EQ(files.fact("/sys/none").whyNot, "there is no /sys/none");
  EXPECT_EQ(files.fact("/sys/none").text(), "not available: there is no /sys/none");
  EXPECT_EQ(files.fact("/sys/empty").whyNot, "/sys/empty is empty");
  EXPECT_EQ(files.fact("/sys/number").value, "17");
  EXPECT_EQ(files.number("/sys/number"), 17U);
  EXPECT_EQ(files.number("/sys/empty"), std::nullopt);
  EXPECT_FALSE(files.fact("/sys").available()); // a folder
  EXPECT_EQ(files.list("/sys"), (std::vector<std::string>{"empty", "number"}));
  EXPECT_TRUE(files.list("/none").empty());
}

void writeCache(const FakeRoot &root, unsigned cpu, const char *index, const char *level, const char *type,
                const char *size, const char *shared) {
  std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/cache/{}", cpu, index);
  root.write(folder + "/level", level);
  root.write(folder + "/type", type);
  root.write(folder + "/size", size);
  root.write(folder + "/shared_cpu_list", shared);
}

TEST(Provenance, IsReadFromTheSystemsFiles) {
  cpu_set_t set;
  CPU_ZERO(&set);
  ASSERT_EQ(::sched_getaffinity(0, sizeof(set), &set), 0);
  unsigned cpu = 0;
  while (!CPU_ISSET(cpu, &set))
    ++cpu;
  FakeRoot root;
  root.write("/proc/cpuinfo", "processor\t: 0\ncpu family\t: 6\nmodel\t\t: 143\nmodel name\t: Xeon 8480\nstepping\t: "
                              "8\nmicrocode\t: 0x2b000\nflags\t\t: fpu avx2 fma avx512f avx512_vnni amx_bf16 zzz");
  root.write("/proc/meminfo", "MemTotal:       1000 kB\nMemFree: 1 kB");
  root.write("/sys/devices/system/cpu/online", "0-3");
  for (unsigned i = 0; i < 4; ++i) {
    root.write(fmt::format("/sys/devices/system/cpu/cpu{}/topology/core_id", i), std::to_string(i / 2));
    root.write(fmt::format("/sys/devices/system/cpu/cpu{}/topology/physical_package_id", i), "0");
  }
  root.write(fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", cpu), "powersave");
  writeCache(root, cpu, "index0", "1", "Data", "48K", "0-1");
  writeCache(root, cpu, "index1", "1", "Instruction", "32K", "0-1");
  writeCache(root, cpu, "index2", "2", "Unified", "2048K", "0-1");
  writeCache(root, cpu, "index3", "3", "Unified", "105M", "0-3");
  writeCache(root, cpu, "index4", "4", "Unified", "lots", "0-3");

  Provenance machine = Provenance::detect(SystemFiles(root.path));
  EXPECT_EQ(machine.cpu, Fact::of("Xeon 8480"));
  EXPECT_EQ(machine.identity, Fact::of("family 6 model 143 stepping 8"));
  EXPECT_EQ(machine.microcode, Fact::of("0x2b000"));
  EXPECT_EQ(machine.governor, Fact::of("powersave"));
  EXPECT_EQ(machine.hypervisor, Fact::of("none"));
  EXPECT_EQ(machine.features, (std::vector<std::string>{"fma", "avx2", "avx512f", "avx512_vnni", "amx_bf16"}));
  EXPECT_EQ(machine.logicalCpus, 4U);
  EXPECT_EQ(machine.cores, 2U);
  EXPECT_EQ(machine.sockets, 1U);
  EXPECT_EQ(machine.memoryBytes, 1000U * 1024);
  ASSERT_EQ(machine.caches.size(), 4U);
  EXPECT_EQ(machine.caches[0], (Cache{1, "Data", 48 << 10, 2}));
  EXPECT_EQ(machine.caches[0].name(), "L1d");
  EXPECT_EQ(machine.dataCache(1)->bytes, 48U << 10);
  EXPECT_EQ(machine.dataCache(2)->name(), "L2");
  EXPECT_EQ(machine.dataCache(4), nullptr);
  EXPECT_EQ(machine.lastLevel()->bytes, 105U << 20);
}

TEST(Provenance, OfAnEmptySystemSaysWhatIsMissing) {
  FakeRoot root;
  Provenance machine = Provenance::detect(SystemFiles(root.path));
  EXPECT_FALSE(machine.cpu.available());
  EXPECT_NE(machine.cpu.whyNot.find("/proc/cpuinfo"), std::string::npos);
  EXPECT_FALSE(machine.governor.available());
  EXPECT_FALSE(machine.microcode.available());
  EXPECT_TRUE(machine.caches.empty());
  EXPECT_EQ(machine.lastLevel(), nullptr);
  EXPECT_FALSE(machine.allowedCpus.empty());
  EXPECT_FALSE(machine.kernel.empty());
}

TEST(Provenance, JsonComesBackAsItWas) {
  Provenance machine = Provenance::detect();
  machine.governor = Fact::missing("of a test");
  Result<Provenance> parsed = Provenance::parse(machine.json());
  ASSERT_TRUE(parsed.ok()) << parsed.status().toString();
  EXPECT_EQ(*parsed, machine);
}

TEST(Provenance, WrongJsonNamesThePlace) {
  auto errorOf = [](const std::string &json) {
    Result<Provenance> parsed = Provenance::parse(json);
    return parsed.ok() ? std::string("ok") : std::string(parsed.status().message());
  };
  EXPECT_EQ(errorOf(""), "this is no JSON");
  EXPECT_EQ(errorOf("[1"), "this is no JSON");
  EXPECT_EQ(errorOf("[]"), "this JSON is no object");
  EXPECT_EQ(errorOf("{}"), "architecture is missing");
  std::string good = Provenance::detect().json();
  auto replaced = [&](const std::string &from, const std::string &to) {
    std::string text = good;
    size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  EXPECT_EQ(errorOf(replaced("\"cores\": ", "\"cores\": -")), "cores is no unsigned number");
  EXPECT_EQ(errorOf(replaced("\"cores\": ", "\"cores\": 99999999999")), "cores is too large");
  EXPECT_EQ(errorOf(replaced("\"kernel\": \"", "\"kernal\": \"")), "kernel is missing");
}

} // namespace
} // namespace kiln::measure
