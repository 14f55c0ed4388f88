// A word now and then from a step that takes long and prints nothing, so that nobody takes it for hung.
#ifndef KILN_TOOLS_DISPATCH_STILL_ALIVE_H
#define KILN_TOOLS_DISPATCH_STILL_ALIVE_H

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

namespace kiln {

// How long a tool says nothing where standard error is no terminal.
inline constexpr std::chrono::milliseconds kLongestSilence{25'000};

// Until it is destroyed, prints "  still compiling, 50 s" each time that so long has passed.
class StillAlive {
public:
  explicit StillAlive(std::string doing, std::chrono::milliseconds every = kLongestSilence, std::FILE *out = stderr);
  ~StillAlive();

private:
  std::mutex mutex;
  std::condition_variable wake;
  bool done = false;
  std::thread thread;
};

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_STILL_ALIVE_H
