// A row of a timeline: the events of one thread, or of one device. One thread at a time puts events into it; the
// recorder's takes them out.
#ifndef KILN_TRACE_LANE_H
#define KILN_TRACE_LANE_H

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kiln/schema/capture.h"

namespace kiln::trace {

class Lane {
public:
  using Event = schema::capture::Event;
  static constexpr size_t kCapacity = size_t(1) << 15; // events
  static constexpr uint32_t kMaxOpen = 64;             // zones that are known while they are open

  Lane(uint32_t number, schema::capture::LaneKind kind, uint32_t clock, std::string name)
      : number(number), kind(kind), clock(clock), name(std::move(name)),
        events(std::make_unique_for_overwrite<Event[]>(kCapacity)) {}

  const uint32_t number;
  const schema::capture::LaneKind kind;
  const uint32_t clock;
  const std::string name;

  // The calling thread's, which is made when it is first asked for.
  static Lane &ofThread() { return current ? *current : makeForThread(); }

  // Of whoever fills the lane. Never waits: where there is no room, the event is counted as lost.
  void put(const Event &event) {
    const uint64_t at = filled.load(std::memory_order_relaxed);
    if (at - emptiedSeen == kCapacity) [[unlikely]]
      if (emptiedSeen = emptied.load(std::memory_order_acquire); at - emptiedSeen == kCapacity)
        return lose(event.time);
    events[at % kCapacity] = event;
    filled.store(at + 1, std::memory_order_release);
    if (at % (kCapacity / 4) == 0) [[unlikely]]
      wakeRecorder();
  }

  // Zones open and close in turn; what is open can be seen by the recorder.
  uint32_t open(uint32_t zoneName, uint64_t begin) {
    const uint32_t depth = openCount.load(std::memory_order_relaxed);
    if (depth < kMaxOpen) {
      openZones[depth].name.store(zoneName, std::memory_order_relaxed);
      openZones[depth].begin.store(begin, std::memory_order_relaxed);
    }
    openCount.store(depth + 1, std::memory_order_release);
    return depth;
  }
  void close(uint32_t depth) { openCount.store(depth, std::memory_order_relaxed); }

  // Of the recorder's thread.
  struct Loss {
    uint64_t count = 0, first = 0, last = 0;
  };
  void discard() { emptied.store(filled.load(std::memory_order_acquire), std::memory_order_release); }
  uint64_t filledSoFar() const { return filled.load(std::memory_order_acquire); }
  // Appends what was put in before `end` was asked of filledSoFar, at most `most` events of it.
  void take(uint64_t end, size_t most, std::vector<Event> &into);
  Loss takeLoss();
  void appendOpenZones(std::vector<schema::capture::OpenZone> &into) const;
  bool hasEnded() const { return ended.load(std::memory_order_acquire); }

private:
  static Lane &makeForThread();
  void lose(uint64_t time);
  static void wakeRecorder();
  friend struct ThreadLane;

  static thread_local constinit Lane *current;

  struct Open {
    std::atomic<uint32_t> name{0};
    std::atomic<uint64_t> begin{0};
  };

  const std::unique_ptr<Event[]> events;
  alignas(64) std::atomic<uint64_t> filled{0}; // so many events were put in
  uint64_t emptiedSeen = 0;
  std::atomic<uint32_t> openCount{0};
  std::array<Open, kMaxOpen> openZones;
  std::atomic<uint64_t> lost{0}, lostTold{0}, firstLost{0}, lastLost{0};
  alignas(64) std::atomic<uint64_t> emptied{0}; // and so many were taken out
  std::atomic<bool> ended{false};               // no more will come
};

} // namespace kiln::trace

#endif // KILN_TRACE_LANE_H
