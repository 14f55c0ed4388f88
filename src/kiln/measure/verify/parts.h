// Work that is split among a few threads.
#ifndef KILN_MEASURE_VERIFY_PARTS_H
#define KILN_MEASURE_VERIFY_PARTS_H

#include <algorithm>
#include <cstdint>
#include <functional>
#include <system_error>
#include <thread>
#include <vector>

namespace kiln::measure::verify {

// Calls part(begin, end) for ranges that make up [0, count), at once in at most `threads` threads, and waits for all.
// `work` is how many elements all parts touch: few are not worth a thread. Parts for which the system has no thread are
// done by the caller's.
inline void forParts(int64_t count, int64_t work, unsigned threads,
                     const std::function<void(int64_t begin, int64_t end)> &part) {
  constexpr int64_t worthAThread = int64_t(1) << 18;
  int64_t parts = std::clamp<int64_t>(std::min<int64_t>(work / worthAThread, threads), 1, std::max<int64_t>(count, 1));
  std::vector<std::thread> others;
  int64_t started = 1, leftFrom = count;
  try {
    for (; started < parts; ++started)
      others.emplace_back(part, count * started / parts, count * (started + 1) / parts);
  } catch (const std::system_error &) {
    leftFrom = count * started / parts;
  }
  part(0, count / parts);
  if (leftFrom < count)
    part(leftFrom, count);
  for (std::thread &other : others)
    other.join();
}

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_PARTS_H
