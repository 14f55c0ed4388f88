// What a program tells of itself while it is recorded:
//
//   static trace::Name loading("load module");
//   trace::Zone zone(loading); // until the end of the scope
//
// A zone that nobody records costs a load and a branch.
#ifndef KILN_TRACE_ZONE_H
#define KILN_TRACE_ZONE_H

#include <atomic>
#include <bit>
#include <cstdint>
#include <string_view>

#include "kiln/trace/lane.h"
#include "kiln/trace/ticks.h"

namespace kiln::trace {

// The number of a name, the same for equal ones, for as long as the process lives.
uint32_t numberOf(std::string_view name);
// The same for names of many parts of a program; a JSON object of what is known of it goes to where it is recorded.
uint32_t numberOf(std::string_view name, std::string_view facts);

// A name, of which the number is looked up once. The text must outlive it.
class Name {
public:
  constexpr explicit Name(std::string_view text) noexcept : text(text) {}
  uint32_t number() {
    const uint32_t known = found.load(std::memory_order_relaxed);
    return known ? known : look();
  }

private:
  uint32_t look() {
    const uint32_t number = numberOf(text);
    found.store(number, std::memory_order_relaxed);
    return number;
  }
  std::string_view text;
  std::atomic<uint32_t> found{0};
};

extern constinit std::atomic<bool> recording;
inline bool isRecording() {
  return recording.load(std::memory_order_relaxed);
}

class Zone {
public:
  explicit Zone(Name &name) {
    if (isRecording()) [[unlikely]]
      enter(name.number());
  }
  // Of a name whose number is known; 0 is no zone.
  explicit Zone(uint32_t name) {
    if (isRecording() && name != 0) [[unlikely]]
      enter(name);
  }
  Zone(const Zone &) = delete;
  ~Zone() {
    if (lane) [[unlikely]]
      leave();
  }

private:
  void enter(uint32_t number) {
    lane = &Lane::ofThread();
    name = number;
    begin = readTicks();
    depth = lane->open(number, begin);
  }
  void leave() {
    const uint64_t end = readTicks();
    lane->close(depth);
    lane->put({begin, end, name, schema::capture::EventKind::Zone, uint8_t(depth < 255 ? depth : 255), 0});
  }

  Lane *lane = nullptr;
  uint64_t begin;
  uint32_t name, depth;
};

// A number that changes over time.
inline void count(Name &name, double value) {
  if (isRecording()) [[unlikely]]
    Lane::ofThread().put(
        {readTicks(), std::bit_cast<uint64_t>(value), name.number(), schema::capture::EventKind::Counter, 0, 0});
}

} // namespace kiln::trace

#endif // KILN_TRACE_ZONE_H
