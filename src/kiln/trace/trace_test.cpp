#include "kiln/base/random.h"
#include "kiln/base/testing/test_folder.h"
#include "kiln/trace/capture_reader.h"
#include "kiln/trace/capture_summary.h"
#include "kiln/trace/chrome_writer.h"
#include "kiln/trace/recorder.h"
#include "kiln/trace/zone.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <nlohmann/json.hpp>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace kiln::trace {
namespace {

namespace capture = schema::capture;
using capture::Event;

struct Seen {
  uint64_t count = 0;
  std::vector<Event> events;
};

// All events of a capture by the names of their lanes and their own.
std::map<std::string, Seen> eventsByName(const Capture &capture) {
  std::map<std::string, Seen> seen;
  Status status = capture.forEach([&](uint32_t lane, std::span<const Event> events) {
    EXPECT_TRUE(capture.lanes().contains(lane));
    for (const Event &event : events) {
      Seen &of = seen[capture.nameOf(event.name)];
      ++of.count;
      of.events.push_back(event);
    }
  });
  EXPECT_TRUE(status.ok()) << status.toString();
  return seen;
}

Capture openCapture(const std::string &path) {
  Result<Capture> capture = Capture::open(path);
  EXPECT_TRUE(capture.ok()) << capture.status().toString();
  return *std::move(capture);
}

std::string contentsOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

constinit Name outer("outer"), inner("inner"), level("level");

void runZones(int count) {
  for (int i = 0; i < count; ++i) {
    Zone around(outer);
    for (int j = 0; j < 3; ++j)
      Zone within(inner);
  }
}

TEST(TraceTest, ZonesOfThreadsAreKept) {
  TestFolder folder;
  const std::string path = folder.file("a.trace");
  runZones(5); // which nobody records
  ASSERT_TRUE(startRecording({path}).ok());
  EXPECT_EQ(startRecording({path}).code(), StatusCode::FailedPrecondition);
  runZones(100);
  count(level, 2.5);
  std::thread([] { runZones(50); }).join();
  RecordingEnd end = stopRecording();
  runZones(7);
  EXPECT_TRUE(end.failure.ok());
  EXPECT_EQ(end.events, 150u * 4 + 1);
  EXPECT_EQ(end.lost, 0u);

  Capture capture = openCapture(path);
  EXPECT_TRUE(capture.isComplete());
  EXPECT_EQ(capture.eventCount(), end.events);
  EXPECT_EQ(capture.header().process, uint32_t(::getpid()));
  EXPECT_EQ(capture.damage().bytes + capture.damage().blocks, 0u);
  std::map<std::string, Seen> seen = eventsByName(capture);
  EXPECT_EQ(seen["outer"].count, 150u);
  EXPECT_EQ(seen["inner"].count, 450u);
  EXPECT_EQ(std::bit_cast<double>(seen["level"].events.at(0).value), 2.5);

  // Of each thread, what is around ends last, and holds what is within.
  int lanes = 0;
  for (const auto &[number, lane] : capture.lanes()) {
    std::vector<Event> zones;
    EXPECT_TRUE(capture
                    .forEach([&, number = number](uint32_t of, std::span<const Event> events) {
                      if (of == number)
                        std::ranges::copy_if(events, std::back_inserter(zones),
                                             [](const Event &e) { return e.kind == capture::EventKind::Zone; });
                    })
                    .ok());
    if (zones.empty())
      continue;
    ++lanes;
    for (size_t i = 0; i + 3 < zones.size(); i += 4) {
      EXPECT_EQ(zones[i + 3].depth, 0);
      for (size_t j = 0; j < 3; ++j) {
        EXPECT_EQ(zones[i + j].depth, 1);
        EXPECT_GE(zones[i + j].time, zones[i + 3].time);
        EXPECT_LE(zones[i + j].value, zones[i + 3].value);
      }
    }
    EXPECT_EQ(capture.clocks().at(lane.clock).fault, "");
  }
  EXPECT_EQ(lanes, 2);
}

TEST(TraceTest, TimesAreThoseOfTheHost) {
  TestFolder folder;
  const std::string path = folder.file("a.trace");
  ASSERT_TRUE(startRecording({path}).ok());
  const uint64_t before = monotonicNanoseconds();
  {
    Zone zone(outer);
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
  }
  const uint64_t after = monotonicNanoseconds();
  stopRecording();
  Capture capture = openCapture(path);
  const Event zone = eventsByName(capture)["outer"].events.at(0);
  for (const auto &[number, lane] : capture.lanes()) {
    const double begin = capture.toNanoseconds(lane, zone.time), end = capture.toNanoseconds(lane, zone.value);
    const double start = double(capture.header().startedNanoseconds);
    constexpr double kDoubt = 20'000; // of the line through readings of the clock
    EXPECT_GE(begin + start, double(before) - kDoubt);
    EXPECT_LE(end + start, double(after) + kDoubt);
    EXPECT_GE(end - begin, 150e6 - kDoubt);
    break;
  }
}

TEST(TraceTest, WhatHasNoRoomIsCounted) {
  TestFolder folder;
  const std::string path = folder.file("a.trace");
  ASSERT_TRUE(startRecording({path}).ok());
  constexpr int kRounds = 400'000;
  runZones(kRounds);
  RecordingEnd end = stopRecording();
  EXPECT_EQ(end.events + end.lost, uint64_t(kRounds) * 4);
  Capture capture = openCapture(path);
  EXPECT_EQ(capture.eventCount(), end.events);
  EXPECT_EQ(capture.lostCount(), end.lost);
  EXPECT_TRUE(capture.isComplete());
}

TEST(TraceTest, AnEventTakes24BytesOfTheFile) {
  TestFolder folder;
  const std::string path = folder.file("a.trace");
  ASSERT_TRUE(startRecording({path}).ok());
  for (int i = 0; i < 100; ++i) {
    runZones(4000);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  RecordingEnd end = stopRecording();
  EXPECT_GT(end.events, 50'000u);
  EXPECT_LT(double(end.bytes) / double(end.events), 24.2);
}

TEST(TraceTest, OnlyTheWindowIsKept) {
  TestFolder folder;
  const std::string path = folder.file("a.trace");
  RecordingOptions options{path};
  options.after = 0.1;
  options.duration = 0.5;
  ASSERT_TRUE(startRecording(options).ok());
  constexpr uint64_t kZones = 900;
  for (uint64_t i = 0; i < kZones; ++i) {
    Zone zone(outer);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  stopRecording();
  Capture capture = openCapture(path);
  const Seen seen = eventsByName(capture)["outer"];
  EXPECT_GT(seen.count, 0u);
  EXPECT_LT(seen.count, kZones);
  const CapturedLane &lane = capture.lanes().begin()->second;
  for (const Event &event : seen.events)
    EXPECT_GT(capture.toNanoseconds(lane, event.time), 0.099e9);
}

// Whatever ends a program leaves what came before.
TEST(TraceTest, AKilledProgramLeavesWhatItWasIn) {
  TestFolder folder;
  const std::string path = folder.file("a.trace");
  const pid_t child = ::fork();
  if (child == 0) {
    if (!startRecording({path}).ok())
      ::_exit(1);
    Zone around(outer);
    runZones(10);
    for (;;)
      ::pause();
  }
  const auto isOpen = [](const Capture &capture) {
    bool found = false;
    for (const auto &[number, lane] : capture.lanes())
      for (const capture::OpenZone &zone : lane.open)
        found |= capture.nameOf(zone.name) == "outer";
    return found;
  };
  // It is flushed as it goes.
  for (int tries = 0; tries < 2000; ++tries) {
    if (Result<Capture> capture = Capture::open(path); capture.ok() && isOpen(*capture))
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  int status;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  Capture capture = openCapture(path);
  EXPECT_FALSE(capture.isComplete());
  EXPECT_EQ(eventsByName(capture)["inner"].count, 30u);
  EXPECT_TRUE(isOpen(capture));
}

TEST(TraceTest, AFullDiskEndsTheRecordingAndNothingElse) {
  ASSERT_TRUE(startRecording({"/dev/full"}).ok());
  runZones(100);
  RecordingEnd end = stopRecording();
  EXPECT_EQ(end.failure.code(), StatusCode::ResourceExhausted);
  EXPECT_EQ(end.events, 0u);
  EXPECT_FALSE(startRecording({"/nowhere/at/all"}).ok());
}

TEST(TraceTest, ADamagedFileTellsTheRest) {
  TestFolder folder;
  const std::string path = folder.file("a.trace"), damaged = folder.file("b.trace");
  ASSERT_TRUE(startRecording({path}).ok());
  for (int i = 0; i < 40; ++i) {
    runZones(500);
    std::this_thread::sleep_for(std::chrono::milliseconds(12));
  }
  RecordingEnd end = stopRecording();
  const std::string whole = contentsOf(path);
  Random random(7);
  int withLoss = 0;
  for (int round = 0; round < 300; ++round) {
    std::string bytes = whole;
    const uint64_t what = random.below(3);
    const size_t at = sizeof(capture::FileHeader) + random.below(bytes.size() - sizeof(capture::FileHeader));
    if (what == 0)
      bytes.resize(at);
    else if (what == 1)
      bytes[at] = char(bytes[at] ^ (1 << random.below(8)));
    else
      bytes.erase(at, 1 + random.below(5000));
    std::ofstream(damaged, std::ios::binary) << bytes;
    Capture capture = openCapture(damaged);
    uint64_t counted = 0;
    EXPECT_TRUE(capture.forEach([&](uint32_t, std::span<const Event> events) { counted += events.size(); }).ok());
    EXPECT_EQ(counted, capture.eventCount());
    EXPECT_LE(counted, end.events);
    const bool isTold = !capture.isComplete() || capture.damage().bytes + capture.damage().blocks > 0;
    EXPECT_TRUE(isTold) << "round " << round;
    withLoss += counted < end.events;
    // What is gone is a block or two, not all that follows.
    if (what != 0) {
      constexpr uint64_t kEventsOfBlock = 8192;
      EXPECT_GE(counted + 2 * kEventsOfBlock, end.events);
    }
  }
  EXPECT_GT(withLoss, 100);
  std::ofstream(damaged, std::ios::binary) << "no capture";
  EXPECT_EQ(Capture::open(damaged).status().code(), StatusCode::InvalidArgument);
}

// Whoever wants to do harm makes the sums of what he has changed right again.
TEST(TraceTest, WhatAFileLiesAboutHarmsNobody) {
  TestFolder folder;
  const std::string path = folder.file("a.trace"), changed = folder.file("b.trace");
  ASSERT_TRUE(startRecording({path}).ok());
  for (int i = 0; i < 10; ++i) {
    runZones(20);
    count(level, i);
    std::this_thread::sleep_for(std::chrono::milliseconds(11));
  }
  stopRecording();
  const std::string whole = contentsOf(path);
  Random random(11);
  int withFaults = 0;
  for (int round = 0; round < 150; ++round) {
    std::string bytes = whole;
    for (size_t at = sizeof(capture::FileHeader); at + sizeof(capture::BlockHeader) <= bytes.size();) {
      capture::BlockHeader header;
      std::memcpy(&header, bytes.data() + at, sizeof(header));
      const size_t length = header.byteCount;
      ASSERT_LE(at + sizeof(header) + length, bytes.size());
      for (uint64_t change = length == 0 ? 0 : random.below(3); change > 0; --change)
        bytes[at + sizeof(header) + random.below(length)] = char(random.below(256));
      if (random.below(8) == 0)
        header.lane = uint32_t(random.bits());
      header.checksum = 0;
      std::memcpy(bytes.data() + at, &header, sizeof(header));
      header.checksum = XXH3_64bits(bytes.data() + at, sizeof(header) + length);
      std::memcpy(bytes.data() + at, &header, sizeof(header));
      at += sizeof(header) + length;
    }
    std::ofstream(changed, std::ios::binary) << bytes;
    Capture capture = openCapture(changed);
    Result<CaptureSummary> summary = CaptureSummary::of(capture);
    ASSERT_TRUE(summary.ok());
    withFaults += !faultsOf(capture, *summary).empty();
    std::string json;
    ASSERT_TRUE(writeChromeTrace(capture, [&](std::string_view text) {
                  json += text;
                  return okStatus();
                }).ok());
    EXPECT_TRUE(nlohmann::json::accept(json)) << "round " << round;
  }
  EXPECT_GT(withFaults, 20);
}

TEST(TraceTest, ClocksOfDevicesAreFitted) {
  TestFolder folder;
  const std::string path = folder.file("a.trace");
  const uint32_t clock = addClock("device 0");
  Lane &lane = addLane("device 0", capture::LaneKind::Device, clock);
  ASSERT_TRUE(startRecording({path}).ok());
  // A clock that runs at 1.5 GHz and 150 ppm fast.
  const double rate = 1.5 * (1 + 150e-6);
  const uint64_t start = monotonicNanoseconds();
  std::vector<ClockSample> samples;
  for (uint64_t i = 0; i < 20; ++i) {
    const uint64_t at = start + i * 10'000'000;
    samples.push_back({at - 50, 77 + uint64_t(double(at - start) * rate), at + 50});
  }
  addClockSamples(clock, samples);
  lane.put({77 + uint64_t(1e6 * rate), 77 + uint64_t(2e6 * rate), numberOf("kernel", R"({"bytes": 8})"),
            capture::EventKind::Zone, 0, 0});
  stopRecording();
  Capture capture = openCapture(path);
  const Event kernel = eventsByName(capture)["kernel"].events.at(0);
  const CapturedLane &captured = capture.lanes().at(lane.number);
  EXPECT_EQ(captured.kind, capture::LaneKind::Device);
  const double began = double(start - capture.header().startedNanoseconds);
  EXPECT_NEAR(capture.toNanoseconds(captured, kernel.time), began + 1e6, 60);
  EXPECT_NEAR(capture.toNanoseconds(captured, kernel.value), began + 2e6, 60);
  EXPECT_EQ(capture.factsOf(kernel.name), R"({"bytes": 8})");
}

} // namespace
} // namespace kiln::trace
