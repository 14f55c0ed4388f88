#include "kiln/trace/lane.h"

#include "kiln/trace/recorder.h"

#include <algorithm>

namespace kiln::trace {

thread_local constinit Lane *Lane::current = nullptr;

void Lane::lose(uint64_t time) {
  if (lost.load(std::memory_order_relaxed) == lostTold.load(std::memory_order_relaxed))
    firstLost.store(time, std::memory_order_relaxed);
  lastLost.store(time, std::memory_order_relaxed);
  lost.fetch_add(1, std::memory_order_release);
}

void Lane::wakeRecorder() {
  trace::wakeRecorder();
}

void Lane::take(uint64_t end, size_t most, std::vector<Event> &into) {
  uint64_t at = emptied.load(std::memory_order_relaxed);
  const uint64_t until = std::min<uint64_t>(end, at + most);
  for (; at < until; ++at)
    into.push_back(events[at % kCapacity]);
  emptied.store(at, std::memory_order_release);
}

Lane::Loss Lane::takeLoss() {
  const uint64_t count = lost.load(std::memory_order_acquire);
  Loss loss{count - lostTold.load(std::memory_order_relaxed), firstLost.load(std::memory_order_relaxed),
            lastLost.load(std::memory_order_relaxed)};
  lostTold.store(count, std::memory_order_relaxed);
  return loss;
}

void Lane::appendOpenZones(std::vector<schema::capture::OpenZone> &into) const {
  const uint32_t count = std::min(openCount.load(std::memory_order_acquire), kMaxOpen);
  for (uint32_t depth = 0; depth < count; ++depth)
    into.push_back({openZones[depth].begin.load(std::memory_order_relaxed),
                    openZones[depth].name.load(std::memory_order_relaxed), depth});
}

} // namespace kiln::trace
