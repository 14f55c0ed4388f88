#include "kiln/measure/machine/doctor.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>

#include "kiln/measure/machine/test_files.h"

namespace kiln::measure {
namespace {

//===--- Noise ----------------------------------------------------------------------------------------------------===//

TEST(Noise, OfEqualSamplesIsNone) {
  std::vector<double> samples(100, 0.5);
  Noise noise = summarizeNoise(1, samples);
  EXPECT_EQ(noise.samples, 100U);
  EXPECT_EQ(noise.medianSeconds, 0.5);
  EXPECT_EQ(noise.floor, 0);
  EXPECT_EQ(noise.p10, 1);
  EXPECT_EQ(noise.p90, 1);
}

TEST(Noise, GrowsWithTheSpreadOfSamples) {
  std::mt19937 random(1); // NOLINT(bugprone-random-generator-seed): the same in each run
  auto floorOf = [&](double deviation) {
    std::normal_distribution<double> distribution(1, deviation);
    std::vector<double> samples(2000);
    for (double &sample : samples)
      sample = distribution(random);
    return summarizeNoise(1, samples).floor;
  };
  double quiet = floorOf(0.001), loud = floorOf(0.05);
  EXPECT_GT(quiet, 0.0003);
  EXPECT_LT(quiet, 0.003);
  EXPECT_NEAR(loud / quiet, 50, 20);
}

// A slow drift is in A and B alike.
TEST(Noise, ForgivesDrift) {
  std::vector<double> samples(2000);
  for (size_t i = 0; i < samples.size(); ++i)
    samples[i] = 1 + static_cast<double>(i) / 2000;
  EXPECT_LT(summarizeNoise(1, samples).floor, 0.001);
  EXPECT_GT(summarizeNoise(1, samples).p90, 1.2);
}

TEST(Noise, OfTooFewSamplesIsNotMadeUp) {
  EXPECT_EQ(summarizeNoise(1, {}).medianSeconds, 0);
  std::vector<double> few(5, 0.1);
  EXPECT_EQ(summarizeNoise(1, few).floor, 0);
}

//===--- Neighbours -----------------------------------------------------------------------------------------------===//

TEST(Neighbours, CpuTimes) {
  EXPECT_EQ(parseCpuTimes("cpu  10 20 30 400 50 6 7 8 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n"), (CpuTimes{73, 450, 8}));
  for (const char *text :
       {"", "cpu", "cpu 1 2 3", "cpu0 1 2 3 4 5 6 7 8", "cpu 1 2 3 4 x 6 7 8", "cpu -1 2 3 4 5 6 7 8"})
    EXPECT_EQ(parseCpuTimes(text), std::nullopt) << text;
}

TEST(Neighbours, ProcessTimesWithAnyName) {
  std::string rest = " S 1 2 3 4 5 6 7 8 9 10 70 30 1 2 3 4 5 6 999 8";
  for (std::string name : {"bash", "a b", ") S 1 (", ""}) {
    std::optional<ProcessTimes> times = parseProcessTimes(fmt::format("17 ({}){}", name, rest));
    ASSERT_TRUE(times) << name;
    EXPECT_EQ(times->name, name);
    EXPECT_EQ(times->ticks, 100U);
    EXPECT_EQ(times->start, 999U);
  }
  for (const char *text :
       {"", "17", "17 (x", "17 x) S", ")(", "17 (x) S 1 2 3", "17 (x) S 1 2 3 4 5 6 7 8 9 10 a b 1 2 3 4 5 6 7"})
    EXPECT_FALSE(parseProcessTimes(text)) << text;
}

TEST(Neighbours, AreWhatGrewBetweenSnapshots) {
  ActivitySnapshot before, after;
  before.nanoseconds = 1000, after.nanoseconds = 1000 + 2000000000; // two seconds of 100 ticks
  before.machine = CpuTimes{1000, 5000, 10}, after.machine = CpuTimes{1300, 5080, 30};
  before.processes = {{1, {"init", 50, 0}}, {2, {"old", 500, 7}}, {3, {"self", 100, 8}}};
  after.processes = {{1, {"init", 50, 0}}, {2, {"new", 40, 9}}, {3, {"self", 300, 8}}, {4, {"busy", 60, 9}}};
  after.load = "1.50 1.00 0.50 2/300 99";
  Neighbours result = watch(before, after, /*self=*/3, /*ticksPerSecond=*/100);
  EXPECT_EQ(result.seconds, 2);
  EXPECT_EQ(result.load, 1.5);
  EXPECT_NEAR(*result.stolen, 20.0 / 400, 1e-9);
  EXPECT_NEAR(*result.busyCpus, 0.5, 1e-9); // 300 ticks are 1.5 CPUs, one of which is this process
  ASSERT_EQ(result.processes.size(), 2U);
  EXPECT_EQ(result.processes[0].name, "busy");
  EXPECT_NEAR(result.processes[0].cpus, 0.3, 1e-9);
  EXPECT_EQ(result.processes[1].name, "new"); // a new process with an old number
  EXPECT_NEAR(result.processes[1].cpus, 0.2, 1e-9);
}

TEST(Neighbours, CountersThatGoBackAreNoTime) {
  ActivitySnapshot before, after;
  after.nanoseconds = 1000000000;
  before.machine = CpuTimes{1000, 5000, 100}, after.machine = CpuTimes{1000, 5100, 50};
  before.processes = {{1, {"x", 50, 0}}}, after.processes = {{1, {"x", 40, 0}}};
  Neighbours result = watch(before, after, 3, 100);
  EXPECT_EQ(*result.stolen, 0);
  EXPECT_EQ(*result.busyCpus, 0);
  EXPECT_TRUE(result.processes.empty());
  EXPECT_FALSE(result.load);
  EXPECT_FALSE(watch({}, {}, 3, 100).stolen);
}

TEST(Neighbours, SnapshotsSeeThisProcess) {
  ActivitySnapshot snapshot = ActivitySnapshot::take(SystemFiles());
  EXPECT_TRUE(snapshot.machine);
  EXPECT_TRUE(snapshot.processes.contains(static_cast<unsigned>(::getpid())));
}

//===--- Diagnosis ------------------------------------------------------------------------------------------------===//

const Finding &findingOf(const std::vector<Finding> &findings, std::string_view topic) {
  for (const Finding &finding : findings)
    if (finding.topic == topic)
      return finding;
  static const Finding none{"none", Health::Unavailable, "", ""};
  ADD_FAILURE() << "no finding about " << topic;
  return none;
}

Diagnosis quietMachine() {
  Diagnosis quiet;
  quiet.noise = {{1, 100, 1e-3, 0.999, 1.001, 0.002}, {2, 100, 1e-3, 0.999, 1.001, 0.004}};
  quiet.clock = ClockRate{4e9, 3.99e9};
  quiet.neighbours.load = 0.5;
  quiet.neighbours.stolen = 0;
  quiet.neighbours.busyCpus = 0.01;
  quiet.machine.governor = Fact::of("performance");
  quiet.currentFrequency = quiet.turbo = quiet.smt = quiet.hugePages = Fact::of("1");
  quiet.quota = Fact::of("none");
  return quiet;
}

TEST(Diagnosis, OfAQuietMachineIsTrust) {
  Diagnosis quiet = quietMachine();
  EXPECT_TRUE(quiet.trustworthy());
  EXPECT_EQ(quiet.noiseFloor(), 0.004);
  EXPECT_EQ(quiet.summary(),
            "This machine can be trusted: differences below 0.4 % cannot be told in a short measurement.");
}

TEST(Diagnosis, EachDisturbanceIsAWarning) {
  struct Case {
    const char *topic;
    void (*disturb)(Diagnosis &);
  };
  for (const Case &test : {
           Case{"noise", [](Diagnosis &d) { d.noise[0].floor = 0.05; }},
           Case{"steal", [](Diagnosis &d) { d.neighbours.stolen = 0.02; }},
           Case{"neighbours", [](Diagnosis &d) { d.neighbours.busyCpus = 1; }},
           Case{"frequency", [](Diagnosis &d) { d.clock->median = 3e9; }},
           Case{"governor", [](Diagnosis &d) { d.machine.governor = Fact::of("powersave"); }},
           Case{"huge pages", [](Diagnosis &d) { d.hugePages = Fact::of("never"); }},
           Case{"quota", [](Diagnosis &d) { d.quota = Fact::of("1.50 CPUs"); }},
       }) {
    Diagnosis diagnosis = quietMachine();
    test.disturb(diagnosis);
    EXPECT_FALSE(diagnosis.trustworthy()) << test.topic;
    std::vector<Finding> findings = diagnosis.findings();
    const Finding &finding = findingOf(findings, test.topic);
    EXPECT_EQ(finding.health, Health::Warning) << test.topic;
    EXPECT_FALSE(finding.advice.empty()) << test.topic;
    EXPECT_EQ(diagnosis.summary().find("1 warning: "), 0U) << diagnosis.summary();
  }
}

TEST(Diagnosis, WhatCannotBeHadIsNoWarning) {
  Diagnosis diagnosis = quietMachine();
  diagnosis.clock.reset();
  diagnosis.neighbours = {};
  diagnosis.machine.governor = diagnosis.currentFrequency = diagnosis.turbo = diagnosis.smt = diagnosis.hugePages =
      diagnosis.quota = Fact::missing("of a test");
  diagnosis.counters = {{"cycles", Fact::missing("of a test")}};
  diagnosis.libraries = {{"oneDNN", Fact::missing("of a test")}};
  EXPECT_TRUE(diagnosis.trustworthy());
  std::vector<Finding> findings = diagnosis.findings();
  for (const char *topic : {"steal", "neighbours", "load", "frequency", "governor", "turbo", "smt", "huge pages",
                            "quota", "cycles", "oneDNN"})
    EXPECT_EQ(findingOf(findings, topic).health, Health::Unavailable) << topic;
  EXPECT_EQ(findingOf(findings, "cycles").text, "not available: of a test");
}

TEST(Diagnosis, ReadsTheSystemsSettings) {
  FakeRoot root;
  root.write("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never");
  root.write("/proc/self/cgroup", "0::/jobs/one");
  root.write("/sys/fs/cgroup/jobs/cpu.max", "150000 100000");
  root.write("/sys/devices/system/cpu/cpufreq/boost", "0");
  root.write("/sys/devices/system/cpu/smt/active", "1");
  Diagnosis diagnosis = Diagnosis::make({.seconds = 0.05}, SystemFiles(root.path));
  EXPECT_EQ(diagnosis.hugePages, Fact::of("madvise"));
  EXPECT_EQ(diagnosis.quota, Fact::of("1.50 CPUs"));
  EXPECT_EQ(diagnosis.turbo, Fact::of("off"));
  EXPECT_EQ(diagnosis.smt, Fact::of("1"));
  EXPECT_FALSE(diagnosis.neighbours.stolen);
  EXPECT_TRUE(diagnosis.libraries.empty());
  EXPECT_EQ(findingOf(diagnosis.findings(), "quota").health, Health::Warning);
}

TEST(Diagnosis, OpenBlasIsAskedForItsCore) {
  Diagnosis diagnosis = Diagnosis::make({.seconds = 0.05, .peersFolder = KILN_PEERS, .coreType = "Prescott"});
  Finding found = findingOf(diagnosis.findings(), "OpenBLAS");
  if (found.health == Health::Unavailable)
    GTEST_SKIP() << found.text;
  EXPECT_NE(found.text.find("; code for "), std::string::npos) << found.text;
  EXPECT_TRUE(found.text.ends_with("; OPENBLAS_CORETYPE=Prescott is set, and workers do not see it")) << found.text;
}

TEST(Diagnosis, OfThisMachineIsComplete) {
  Diagnosis diagnosis = Diagnosis::make({.seconds = 0.2, .peersFolder = KILN_PEERS});
  ASSERT_FALSE(diagnosis.noise.empty());
  for (const Noise &noise : diagnosis.noise) {
    EXPECT_GE(noise.samples, 20U);
    EXPECT_GT(noise.medianSeconds, 1e-5);
    EXPECT_LT(noise.medianSeconds, 0.1);
  }
#if defined(__x86_64__) || defined(__aarch64__)
  ASSERT_TRUE(diagnosis.clock);
  EXPECT_GT(diagnosis.clock->best, 0.5e9);
  EXPECT_LT(diagnosis.clock->best, 8e9);
#endif
  EXPECT_EQ(diagnosis.counters.size(), 3U);
  EXPECT_EQ(diagnosis.libraries.size(), 3U);
  for (const Finding &finding : diagnosis.findings())
    EXPECT_FALSE(finding.text.empty()) << finding.topic;
  nlohmann::json json = nlohmann::json::parse(diagnosis.json(), nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  for (const char *name : {"machine", "noise_floor", "noise", "clock", "neighbours", "counters", "libraries",
                           "findings", "trustworthy", "summary"})
    EXPECT_TRUE(json.contains(name)) << name;
  EXPECT_EQ(json["findings"].size(), diagnosis.findings().size());
}

TEST(Diagnosis, JsonTakesNamesThatAreNoText) {
  Diagnosis diagnosis = quietMachine();
  diagnosis.neighbours.processes = {{1, "\xff\"\n", 1}};
  EXPECT_FALSE(nlohmann::json::parse(diagnosis.json(), nullptr, false).is_discarded());
}

} // namespace
} // namespace kiln::measure
