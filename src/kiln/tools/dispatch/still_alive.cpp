#include "kiln/tools/dispatch/still_alive.h"

#include <cstdio>

#include "kiln/base/clock.h"
#include "kiln/tools/dispatch/duration.h"

namespace kiln {

StillAlive::StillAlive(std::string doing, std::chrono::milliseconds every) {
  thread = std::thread([this, doing = std::move(doing), every] {
    const uint64_t start = monotonicNanoseconds();
    std::unique_lock lock(mutex);
    while (!wake.wait_for(lock, every, [this] { return done; }))
      std::fprintf(stderr, "  still %s, %.0f s\n", doing.c_str(), secondsSince(start));
  });
}

StillAlive::~StillAlive() {
  {
    std::lock_guard lock(mutex);
    done = true;
  }
  wake.notify_one();
  thread.join();
}

} // namespace kiln
