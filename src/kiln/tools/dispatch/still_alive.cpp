#include "kiln/tools/dispatch/still_alive.h"

#include "kiln/base/clock.h"
#include "kiln/tools/dispatch/duration.h"

namespace kiln {

StillAlive::StillAlive(std::string doing, std::chrono::milliseconds every, std::FILE *out) {
  thread = std::thread([this, doing = std::move(doing), every, out] {
    const uint64_t start = monotonicNanoseconds();
    std::unique_lock lock(mutex);
    while (!wake.wait_for(lock, every, [this] { return done; }))
      if (std::fprintf(out, "  still %s, %.0f s\n", doing.c_str(), secondsSince(start)) > 0)
        (void)std::fflush(out);
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
