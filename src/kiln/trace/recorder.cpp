#include "kiln/trace/recorder.h"

#include "kiln/base/clock.h"
#include "kiln/base/file_descriptor.h"
#include "kiln/trace/capture_writer.h"
#include "kiln/trace/ticks.h"
#include "kiln/trace/zone.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kiln::trace {

namespace capture = schema::capture;

constinit std::atomic<bool> recording{false};

namespace {

constexpr auto kFlushInterval = std::chrono::milliseconds(10);
constexpr uint64_t kSampleInterval = 100'000'000; // nanoseconds
constexpr size_t kEventsOfBlock = 8192;

struct KnownName {
  std::string text, facts;
};

struct KnownClock {
  std::string name;
  bool isMonotonic;
};

// All that outlives a recording: names, lanes and clocks keep their numbers.
struct Registry {
  std::mutex mutex;
  std::unordered_map<std::string, uint32_t> numbers;
  std::vector<KnownName> names; // number 1 is the first
  std::vector<KnownClock> clocks{{"ticks of the CPU", false}, {"monotonic", true}};
  std::vector<std::shared_ptr<Lane>> lanes; // those that threads have left are gone once they are written
  std::vector<std::shared_ptr<Lane>> newLanes;
  std::vector<capture::ClockReading> readings; // that are to be written
  uint32_t lanesSoFar = 0;

  // Never destroyed: threads may end after everything else.
  static Registry &get() {
    static auto *registry = new Registry();
    return *registry;
  }

  std::shared_ptr<Lane> addLane(std::string name, capture::LaneKind kind, uint32_t clock) {
    std::lock_guard lock(mutex);
    auto lane = std::make_shared<Lane>(++lanesSoFar, kind, clock, std::move(name));
    lanes.push_back(lane);
    newLanes.push_back(lane);
    return lane;
  }
};

class Recorder {
public:
  Recorder(const RecordingOptions &options, FileDescriptor file)
      : options(options), writer(std::move(file)), started(monotonicNanoseconds()) {}

  void start() {
    const auto unixTime = std::chrono::system_clock::now().time_since_epoch();
    capture::FileHeader header{{},
                               capture::kVersion,
                               uint32_t(::getpid()),
                               started,
                               std::chrono::duration_cast<std::chrono::nanoseconds>(unixTime).count()};
    std::memcpy(header.magic, capture::kMagic, sizeof(header.magic));
    writer.write(std::as_bytes(std::span(&header, 1)));
    {
      Registry &registry = Registry::get();
      std::lock_guard lock(registry.mutex);
      std::erase_if(registry.lanes, [](const auto &lane) { return lane->hasEnded(); });
      for (const auto &lane : registry.lanes)
        lane->discard();
      registry.newLanes = registry.lanes;
      registry.readings.clear();
    }
    sampleTicksApart();
    flush(/*withOpenZones=*/false);
    if (options.after == 0)
      recording.store(true, std::memory_order_relaxed);
    thread = std::thread([this] { run(); });
  }

  RecordingEnd stop() {
    {
      std::lock_guard lock(mutex);
      stopping = true;
    }
    changed.notify_one();
    thread.join(); // which may have begun to keep events just now
    recording.store(false, std::memory_order_relaxed);
    sampleTicksApart();
    flush(/*withOpenZones=*/true);
    writer.writeBlock(capture::BlockKind::End, 0, std::vector<capture::End>{{events, lost}});
    return {events, lost, writer.byteCount(), writer.status()};
  }

  void wake() { changed.notify_one(); }

private:
  void run() {
    ::pthread_setname_np(::pthread_self(), "kiln trace");
    std::unique_lock lock(mutex);
    while (!stopping) {
      changed.wait_for(lock, kFlushInterval);
      lock.unlock();
      keepWindow();
      const uint64_t now = monotonicNanoseconds();
      const bool isTime = now - lastSample >= kSampleInterval;
      if (isTime)
        sampleTicks();
      flush(isTime);
      lock.lock();
    }
  }

  void keepWindow() {
    const double seconds = double(monotonicNanoseconds() - started) * 1e-9;
    const bool isWanted = writer.status().ok() && seconds >= options.after &&
                          (options.duration == 0 || seconds < options.after + options.duration);
    if (isWanted != isRecording())
      recording.store(isWanted, std::memory_order_relaxed);
  }

  // As many as a line through them needs, also where nothing else comes.
  void sampleTicksApart() {
    for (int i = 0; i < 4; ++i) {
      if (i > 0)
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      sampleTicks();
    }
  }

  // The narrowest of a few.
  void sampleTicks() {
    capture::ClockReading best{kTickClock, 0, 0, 0, UINT64_MAX};
    for (int i = 0; i < 8; ++i) {
      const uint64_t before = monotonicNanoseconds(), ticks = readTicks(), after = monotonicNanoseconds();
      if (after - before < best.after - best.before)
        best = {kTickClock, 0, before, ticks, after};
    }
    lastSample = best.after;
    Registry &registry = Registry::get();
    std::lock_guard lock(registry.mutex);
    registry.readings.push_back(best);
  }

  void flush(bool withOpenZones) {
    struct Filled {
      std::shared_ptr<Lane> lane;
      bool hasEnded;
      uint64_t end;
    };
    std::vector<Filled> filled;
    std::vector<capture::ClockReading> readings;
    Definitions definitions;
    Registry &registry = Registry::get();
    {
      std::lock_guard lock(registry.mutex);
      for (const auto &lane : registry.lanes)
        filled.push_back({lane, lane->hasEnded(), 0});
      // What was put in by now has a name by now.
      for (Filled &each : filled)
        each.end = each.lane->filledSoFar();
      for (; namesWritten < registry.names.size(); ++namesWritten) {
        const KnownName &name = registry.names[namesWritten];
        const auto number = uint32_t(namesWritten + 1);
        definitions.add(capture::DefinitionKind::Name, number, 0, 0, name.text);
        if (!name.facts.empty())
          definitions.add(capture::DefinitionKind::Facts, number, 0, 0, name.facts);
      }
      for (; clocksWritten < registry.clocks.size(); ++clocksWritten)
        definitions.add(capture::DefinitionKind::Clock, uint32_t(clocksWritten + 1),
                        registry.clocks[clocksWritten].isMonotonic, 0, registry.clocks[clocksWritten].name);
      for (const auto &lane : registry.newLanes)
        definitions.add(capture::DefinitionKind::Lane, lane->number, uint32_t(lane->kind), lane->clock, lane->name);
      registry.newLanes.clear();
      readings = std::exchange(registry.readings, {});
      std::erase_if(registry.lanes, [](const auto &lane) { return lane->hasEnded(); });
    }
    definitions.write(writer);
    if (!readings.empty())
      writer.writeBlock(capture::BlockKind::ClockSamples, 0, readings);
    std::vector<capture::Loss> losses;
    for (Filled &each : filled) {
      for (;;) {
        taken.clear();
        each.lane->take(each.end, kEventsOfBlock, taken);
        if (taken.empty())
          break;
        writer.writeBlock(capture::BlockKind::Events, each.lane->number, taken);
        if (writer.status().ok())
          events += taken.size();
        else
          lost += taken.size();
      }
      if (Lane::Loss loss = each.lane->takeLoss(); loss.count != 0) {
        losses.push_back({each.lane->number, 0, loss.count, loss.first, loss.last});
        lost += loss.count;
      }
      if (!withOpenZones || each.hasEnded)
        continue;
      open.clear();
      each.lane->appendOpenZones(open);
      const bool changedOpen = std::exchange(openBefore[each.lane->number], open.size()) != 0 || !open.empty();
      if (changedOpen)
        writer.writeBlock(capture::BlockKind::OpenZones, each.lane->number, open);
    }
    if (!losses.empty())
      writer.writeBlock(capture::BlockKind::Losses, 0, losses);
  }

  const RecordingOptions options;
  BlockWriter writer;
  const uint64_t started;
  std::thread thread;
  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false; // guarded
  // Of the thread alone, but before it starts and after it has ended.
  size_t namesWritten = 0, clocksWritten = 0;
  uint64_t lastSample = 0, events = 0, lost = 0;
  std::vector<Lane::Event> taken;
  std::vector<capture::OpenZone> open;
  std::unordered_map<uint32_t, size_t> openBefore;
};

// Guarded by `mutex`; the one that is going on, or null.
struct Current {
  std::mutex mutex;
  std::unique_ptr<Recorder> recorder;
  static Current &get() {
    static auto *current = new Current();
    return *current;
  }
};

std::string nameOfThread() {
  char name[32] = {};
  ::pthread_getname_np(::pthread_self(), name, sizeof(name));
  return fmt::format("{} {}", name, ::gettid());
}

} // namespace

// Tells when its thread is gone.
struct ThreadLane {
  std::shared_ptr<Lane> lane;
  ~ThreadLane();
};
static thread_local constinit bool threadIsEnding = false;
static thread_local ThreadLane threadLane;

ThreadLane::~ThreadLane() {
  threadIsEnding = true;
  Lane::current = nullptr;
  if (lane)
    lane->ended.store(true, std::memory_order_release);
}

Lane &Lane::makeForThread() {
  std::shared_ptr<Lane> lane = Registry::get().addLane(nameOfThread(), capture::LaneKind::Thread, kTickClock);
  current = lane.get();
  if (threadIsEnding) // Nobody is left to tell: the lane stays.
    new std::shared_ptr<Lane>(lane);
  else
    threadLane.lane = lane;
  return *lane;
}

uint32_t numberOf(std::string_view name) {
  return numberOf(name, {});
}

uint32_t numberOf(std::string_view name, std::string_view facts) {
  Registry &registry = Registry::get();
  std::lock_guard lock(registry.mutex);
  auto [known, isNew] = registry.numbers.try_emplace(std::string(name), uint32_t(registry.names.size() + 1));
  if (isNew)
    registry.names.push_back({std::string(name), std::string(facts)});
  return known->second;
}

uint32_t addClock(std::string_view name) {
  Registry &registry = Registry::get();
  std::lock_guard lock(registry.mutex);
  registry.clocks.push_back({std::string(name), false});
  return uint32_t(registry.clocks.size());
}

void addClockSamples(uint32_t clock, std::span<const ClockSample> samples) {
  Registry &registry = Registry::get();
  std::lock_guard lock(registry.mutex);
  for (const ClockSample &sample : samples)
    registry.readings.push_back({clock, 0, sample.before, sample.ticks, sample.after});
}

Lane &addLane(std::string_view name, capture::LaneKind kind, uint32_t clock) {
  return *Registry::get().addLane(std::string(name), kind, clock); // which keeps it
}

Status startRecording(const RecordingOptions &options) {
  Current &current = Current::get();
  std::lock_guard lock(current.mutex);
  if (current.recorder)
    return failedPrecondition("a recording is going on already; one process has one at a time");
  FileDescriptor file(::open(options.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file)
    return errnoStatus(errno, fmt::format("cannot open '{}'", options.path));
  current.recorder = std::make_unique<Recorder>(options, std::move(file));
  current.recorder->start();
  return okStatus();
}

RecordingEnd stopRecording() {
  Current &current = Current::get();
  std::lock_guard lock(current.mutex);
  if (!current.recorder)
    return {};
  RecordingEnd end = current.recorder->stop();
  current.recorder = nullptr;
  return end;
}

void wakeRecorder() {
  Current &current = Current::get();
  // Whoever stops it will look anyway.
  std::unique_lock lock(current.mutex, std::try_to_lock);
  if (lock && current.recorder)
    current.recorder->wake();
}

} // namespace kiln::trace
