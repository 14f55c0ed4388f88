// zone_cost: prints, in nanoseconds, what a zone costs that nobody records, one that is recorded, and two readings of
// the clock; then how many events were lost, which is to be none. The least of many rounds, each of which fits into a
// lane.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>

#include "kiln/base/clock.h"
#include "kiln/trace/recorder.h"
#include "kiln/trace/ticks.h"
#include "kiln/trace/zone.h"

using namespace kiln;

static constexpr int kRounds = 50, kZones = 20'000;
static constinit trace::Name name("zone");

template <typename Step> static double leastOf(Step step) {
  double least = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t begin = monotonicNanoseconds();
    for (int i = 0; i < kZones; ++i)
      step();
    least = std::min(least, double(monotonicNanoseconds() - begin) / kZones);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return least;
}

// What a loop costs that the compiler must not remove.
static void nothing() {
  asm volatile("" ::: "memory");
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fputs("usage: zone_cost FILE\n", stderr);
    return 2;
  }
  const double loop = leastOf(nothing);
  const double off = leastOf([] {
                       trace::Zone zone(name);
                       nothing();
                     }) -
                     loop;
  const double clock = leastOf([] {
    volatile uint64_t begin = trace::readTicks();
    volatile uint64_t end = trace::readTicks();
    (void)begin, (void)end;
  });
  if (Status status = trace::startRecording({argv[1]}); !status.ok()) {
    std::fprintf(stderr, "zone_cost: %s\n", status.toString().c_str());
    return 1;
  }
  const double on = leastOf([] {
    trace::Zone zone(name);
    nothing();
  });
  const trace::RecordingEnd end = trace::stopRecording();
  std::printf("off %.2f on %.2f clock %.2f lost %llu bytes %.2f\n", off, on, clock, (unsigned long long)end.lost,
              double(end.bytes) / double(end.events));
}
