#include "kiln/measure/machine/calibration.h"

#include <atomic>
#include <gtest/gtest.h>

#include "kiln/measure/machine/bandwidth.h"
#include "kiln/measure/machine/peak.h"
#include "kiln/measure/machine/team.h"

namespace kiln::measure {
namespace {

//===--- Parts ----------------------------------------------------------------------------------------------------===//

TEST(Team, RunsOnAsManyThreadsAsAsked) {
  Provenance machine = Provenance::detect();
  Team team(machine.allowedCpus);
  for (unsigned round = 0; round < 20; ++round)
    for (unsigned count = 1; count <= team.size(); ++count) {
      std::atomic<unsigned> calls = 0, sum = 0;
      team.run(count, [&](unsigned thread) {
        ++calls;
        sum += thread;
      });
      EXPECT_EQ(calls, count);
      EXPECT_EQ(sum, count * (count - 1) / 2);
    }
}

TEST(Team, TimesTheSlowest) {
  unsigned cpus[] = {0, 0};
  Team team(cpus);
  uint64_t took = team.run(2, [](unsigned thread) {
    if (thread == 1)
      ::usleep(20000);
  });
  EXPECT_GE(took, 20000000U);
}

TEST(PeakKernels, DependOnTheCpu) {
  std::vector<std::string> none, all = Provenance::detect().features;
  EXPECT_LE(peakKernels(none).size(), peakKernels(all).size());
  for (const PeakKernel &kernel : peakKernels(all)) {
    EXPECT_GT(kernel.operations, 0);
    kernel.run(10); // must not trap
  }
}

TEST(Transfer, MovesWhatItSays) {
  std::vector<std::string> features = Provenance::detect().features;
  for (const std::vector<std::string> &chosen : {std::vector<std::string>(), features}) {
    Result<TransferBuffer> buffer = TransferBuffer::create(3 * 512 * 4 + 2 * 320);
    ASSERT_TRUE(buffer.ok());
    auto *floats = reinterpret_cast<float *>(buffer->bytes().data());
    size_t count = 512, distance = 512 + 80; // floats of an array, and from one to the next
    for (size_t i = 0; i < count; ++i) {
      floats[i] = static_cast<float>(i);
      floats[distance + i] = 1;
    }
    EXPECT_EQ(transferBytes(Transfer::Triad, buffer->bytes().size()), 3 * count * sizeof(float));
    runTransfer(Transfer::Triad, buffer->bytes(), 1, chosen);
    for (size_t i = 0; i < count; ++i)
      ASSERT_EQ(floats[2 * distance + i], static_cast<float>(i) + 3) << i;
    std::span<std::byte> pair = buffer->bytes().first(2 * 512 * 4 + 320);
    EXPECT_EQ(transferBytes(Transfer::Copy, pair.size()), 2 * count * sizeof(float));
    runTransfer(Transfer::Copy, pair, 1, chosen);
    for (size_t i = 0; i < count; ++i)
      ASSERT_EQ(floats[distance + i], static_cast<float>(i)) << i;
    runTransfer(Transfer::Read, buffer->bytes(), 2, chosen);
  }
  // Too small for one block: nothing to do, and no access outside.
  Result<TransferBuffer> tiny = TransferBuffer::create(100);
  ASSERT_TRUE(tiny.ok());
  EXPECT_EQ(transferBytes(Transfer::Read, 100), 0U);
  runTransfer(Transfer::Triad, tiny->bytes().first(100), 1, features);
}

TEST(MemoryLevels, EachIsBeyondTheOneBefore) {
  Provenance machine;
  machine.logicalCpus = machine.cores = 8;
  machine.memoryBytes = uint64_t(64) << 30;
  machine.caches = {{1, "Data", 48 << 10, 1},
                    {1, "Instruction", 32 << 10, 1},
                    {2, "Unified", 1 << 20, 1},
                    {3, "Unified", 32 << 20, 8}};
  std::vector<MemoryLevel> one = memoryLevels(machine, 1), all = memoryLevels(machine, 8);
  ASSERT_EQ(one.size(), 4U);
  EXPECT_EQ(one[0].name, "L1");
  EXPECT_EQ(one[0].bytesPerThread, 24U << 10);
  EXPECT_EQ(one[2].bytesPerThread, 16U << 20);
  EXPECT_EQ(one[3].name, "memory");
  EXPECT_EQ(one[3].bytesPerThread, 128U << 20);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[1].bytesPerThread, 512U << 10);
  EXPECT_EQ(all[2].bytesPerThread, 2U << 20);
  EXPECT_EQ(all[3].bytesPerThread, 16U << 20);
  // A share of the third level that fits into the second cannot be measured.
  machine.caches[3].bytes = 4 << 20;
  EXPECT_EQ(memoryLevels(machine, 8).size(), 3U);
  machine.caches.clear();
  EXPECT_EQ(memoryLevels(machine, 1).size(), 1U);
}

//===--- Questions and JSON ---------------------------------------------------------------------------------------===//

Calibration sample() {
  Calibration calibration;
  calibration.time = "2026-01-02T03:04:05Z";
  calibration.seconds = 1.5;
  calibration.machine.cpu = Fact::of("a CPU");
  calibration.machine.governor = Fact::missing("of a test");
  calibration.arithmetic = {{"f32", "sse", 1, {1e10, 9e9, 5}},
                            {"f32", "avx2_fma", 1, {1e11, 9e10, 5}},
                            {"f32", "avx2_fma", 4, {4e11, 3e11, 5}},
                            {"f16", "avx512_fp16", 1, {2e11, 1e11, 5}}};
  calibration.bandwidth = {{"L1", "read", 1, 24576, {4e11, 3e11, 5}}, {"L1", "copy", 1, 24576, {5e11, 3e11, 5}}};
  return calibration;
}

TEST(Calibration, AnswersWithTheBest) {
  Calibration calibration = sample();
  EXPECT_EQ(calibration.peakOperations("f32", 1), 1e11);
  EXPECT_EQ(calibration.peakOperations("f32", 4), 4e11);
  EXPECT_EQ(calibration.peakOperations("f32", 3), 3e11);  // between
  EXPECT_EQ(calibration.peakOperations("f32", 64), 4e11); // never more than was seen
  EXPECT_EQ(calibration.peakOperations("f16", 1), 2e11);
  EXPECT_EQ(calibration.peakOperations("f16", 4), 4e11); // through f32
  EXPECT_EQ(calibration.peakOperations("bf16", 1), 1e11);
  EXPECT_EQ(calibration.peakOperations("i8", 1), std::nullopt);
  EXPECT_EQ(calibration.peakBytes("L1", 1), 5e11);
  EXPECT_EQ(calibration.peakBytes("L9", 1), std::nullopt);
  EXPECT_NEAR(calibration.arithmetic[0].operations.spread(), 0.1, 1e-9);
  EXPECT_EQ(Speed{}.spread(), 0);
}

TEST(Calibration, JsonComesBackAsItWas) {
  Calibration calibration = sample();
  Result<Calibration> parsed = Calibration::parse(calibration.json());
  ASSERT_TRUE(parsed.ok()) << parsed.status().toString();
  EXPECT_EQ(*parsed, calibration);
}

TEST(Calibration, ADevicesJsonComesBackAsItWas) {
  Calibration calibration = sample();
  calibration.device =
      CalibratedDevice{"Fast 9000", {{"multiprocessors", "132"}, {"memory bytes", "7"}}, "CUDA 13.0", true};
  calibration.launches = {{"awaited", 8000, 9000.5, 20}, {"in a graph", 900, 950, 5}};
  const std::string json = calibration.json();
  Result<Calibration> parsed = Calibration::parse(json);
  ASSERT_TRUE(parsed.ok()) << parsed.status().toString();
  EXPECT_EQ(*parsed, calibration);
  auto errorOf = [&](const std::string &from, const std::string &to) {
    std::string text = json;
    Result<Calibration> wrong = Calibration::parse(text.replace(text.find(from), from.size(), to));
    return wrong.ok() ? std::string("ok") : std::string(wrong.status().message());
  };
  EXPECT_EQ(errorOf("\"simulated\": true", "\"simulated\": 1"),
            "this is no calibration: device.simulated is no truth value");
  EXPECT_EQ(errorOf("\"median_ns\": 9000.5", "\"median_ns\": 7000"),
            "this is no calibration: launches[0].median_ns is no time from the best on");
  EXPECT_EQ(errorOf("\"launches\"", "\"launch\""), "this is no calibration: launches is missing");
  // A launch that takes longer is no better.
  Calibration other = calibration;
  other.launches[0].bestNanoseconds = 7000, other.launches[1].bestNanoseconds = 990;
  calibration.takeBest(other);
  EXPECT_EQ(calibration.launches[0].bestNanoseconds, 7000);
  EXPECT_EQ(calibration.launches[1].bestNanoseconds, 900);
}

TEST(Calibration, WrongJsonNamesThePlace) {
  std::string good = sample().json();
  auto errorOf = [&](const std::string &from, const std::string &to) {
    std::string text = good;
    size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    Result<Calibration> parsed = Calibration::parse(text.replace(at, from.size(), to));
    return parsed.ok() ? std::string("ok") : std::string(parsed.status().message());
  };
  EXPECT_EQ(errorOf("\"format\": 1", "\"format\": 2"),
            "this calibration has format 2, and this build reads 1; run `kiln calibrate` again");
  EXPECT_EQ(errorOf("\"avx2_fma\"", "7"), "this is no calibration: arithmetic[1].instructions is no text");
  EXPECT_EQ(errorOf("\"median\": 9000000000.0", "\"median\": 1e99"),
            "this is no calibration: arithmetic[0].operations_per_second.median is no speed up to the best");
  EXPECT_EQ(errorOf("\"best\": 400000000000.0", "\"best\": -1"),
            "this is no calibration: arithmetic[2].operations_per_second.median is no speed up to the best");
  EXPECT_EQ(errorOf("\"bandwidth\": [", "\"bandwidths\": ["), "this is no calibration: bandwidth is missing");
  EXPECT_EQ(errorOf("\"machine\": {", "\"machine\": 3, \"m\": {"), "this is no calibration: machine is no object");
  EXPECT_EQ(errorOf("\"arithmetic\": [", "\"arithmetic\": [1, "), "this is no calibration: arithmetic[0] is no object");
}

TEST(Calibration, NoPrefixOfJsonCrashesOrPasses) {
  std::string good = sample().json();
  for (size_t length = 0; length + 2 < good.size(); ++length)
    EXPECT_FALSE(Calibration::parse(good.substr(0, length)).ok()) << length;
}

TEST(Calibration, WrongOptionsAreErrors) {
  EXPECT_EQ(Calibration::run({.threads = {0}, .progress = {}}).status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(Calibration::run({.threads = {1u << 20}, .progress = {}}).status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(Calibration::run({.threads = {}, .windowSeconds = 0, .progress = {}}).status().code(),
            StatusCode::InvalidArgument);
  EXPECT_EQ(Calibration::run({.threads = {}, .repetitions = 0, .progress = {}}).status().code(),
            StatusCode::InvalidArgument);
}

} // namespace
} // namespace kiln::measure
