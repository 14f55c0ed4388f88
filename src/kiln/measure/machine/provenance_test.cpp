#include "kiln/measure/machine/provenance.h"

#include <gtest/gtest.h>

#include "kiln/measure/machine/test_files.h"

namespace kiln::measure {
namespace {

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

TEST(Provenance, IsReadFromTheSystemsFilesAndTheTopology) {
  FakeRoot root;
  root.write("/proc/cpuinfo", "processor\t: 0\ncpu family\t: 6\nmodel\t\t: 143\nmodel name\t: Xeon 8480\nstepping\t: "
                              "8\nmicrocode\t: 0x2b000\nflags\t\t: fpu avx2 fma avx512f avx512_vnni amx_bf16 zzz");
  root.write("/proc/meminfo", "MemTotal:       1000 kB\nMemFree: 1 kB");
  root.write("/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "powersave");
  task::Topology topology;
  topology.cpus = {2, 3};
  topology.machineCpus = {0, 1, 2, 3};
  topology.machineCores = 2;
  topology.packages = 1;
  topology.caches = {{1, "Data", 48 << 10, {0, 1}},
                     {1, "Data", 48 << 10, {2, 3}},
                     {1, "Instruction", 32 << 10, {2, 3}},
                     {2, "Unified", 2 << 20, {2, 3}},
                     {3, "Unified", 105 << 20, {0, 1, 2, 3}}};

  Provenance machine = Provenance::detect(SystemFiles(root.path), topology);
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
  EXPECT_EQ(machine.allowedCpus, (std::vector<unsigned>{2, 3}));
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
  task::Topology unknown;
  unknown.cpus = {0};
  Provenance machine = Provenance::detect(SystemFiles(root.path), unknown);
  EXPECT_FALSE(machine.cpu.available());
  EXPECT_NE(machine.cpu.whyNot.find("/proc/cpuinfo"), std::string::npos);
  EXPECT_FALSE(machine.governor.available());
  EXPECT_FALSE(machine.microcode.available());
  EXPECT_TRUE(machine.caches.empty());
  EXPECT_EQ(machine.lastLevel(), nullptr);
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
