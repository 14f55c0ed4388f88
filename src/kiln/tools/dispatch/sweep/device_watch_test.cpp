#include "kiln/tools/dispatch/sweep/device_watch.h"

#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <vector>

#include "kiln/base/clock.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

using namespace std::chrono_literals;
using Stretches = std::vector<std::pair<uint64_t, uint64_t>>;

// Longer than any test waits for a monitor that answers, however busy the machine is.
constexpr std::chrono::seconds kLong(60);

DeviceState clockOf(double megahertz) {
  return {.lowMegahertz = megahertz, .highMegahertz = megahertz};
}

// Reads what a script says of each reading, counted from 0. A watch's readings are at least 3 ms apart.
class ScriptedMonitor final : public hal::DeviceMonitor {
public:
  using Script = std::function<Result<DeviceState>(size_t reading)>;
  explicit ScriptedMonitor(Script script) : script(std::move(script)) {}

  Result<DeviceState> read() override {
    size_t reading = 0;
    {
      std::lock_guard lock(mutex);
      reading = begun.size();
      begun.push_back(monotonicNanoseconds());
    }
    changed.notify_all();
    return script(reading);
  }

  // When this reading began, once it has: after the time that the watch has of it, and before that of the next one. The
  // watch has stored the reading before it.
  uint64_t beginOf(size_t reading) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return begun.size() > reading; });
    return begun[reading];
  }

private:
  const Script script;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<uint64_t> begun;
};

// The clock's megahertz are the reading's number.
std::shared_ptr<ScriptedMonitor> countingMonitor() {
  return std::make_shared<ScriptedMonitor>([](size_t reading) { return clockOf(static_cast<double>(reading)); });
}

TEST(DeviceWatch, TellsWhatWasReadWithinStretches) {
  auto monitor = countingMonitor();
  DeviceWatch watch(monitor, kLong);
  monitor->beginOf(8);
  // Readings 1 and 2, and 5 and 6.
  const Stretches stretches = {{monitor->beginOf(0) + 1, monitor->beginOf(2)},
                               {monitor->beginOf(4) + 1, monitor->beginOf(6)}};
  EXPECT_EQ(watch.during(stretches), (DeviceState{.lowMegahertz = 1, .highMegahertz = 6}));
  EXPECT_EQ(watch.during({}), DeviceState());
}

TEST(DeviceWatch, LeavesOutWhatWasReadBetweenStretches) {
  auto monitor = std::make_shared<ScriptedMonitor>([](size_t reading) { return clockOf(reading == 3 ? 99 : 7); });
  DeviceWatch watch(monitor, kLong);
  monitor->beginOf(8);
  const Stretches stretches = {{monitor->beginOf(0) + 1, monitor->beginOf(2)},
                               {monitor->beginOf(4) + 1, monitor->beginOf(6)}};
  EXPECT_EQ(watch.during(stretches), clockOf(7));
}

TEST(DeviceWatch, TellsTheFirstReadingAfterAStretchThatWasTooShort) {
  auto monitor = countingMonitor();
  DeviceWatch watch(monitor, kLong);
  const uint64_t moment = monitor->beginOf(2) + 1;
  EXPECT_EQ(watch.during(Stretches{{moment, moment}}), clockOf(3)) << "which it waits for";
}

TEST(DeviceWatch, ForgetsWhatWasReadBeforeAStretchEnded) {
  auto monitor = countingMonitor();
  DeviceWatch watch(monitor, kLong);
  const Stretches all = {{0, monitor->beginOf(2) + 1}};
  EXPECT_EQ(watch.during(all), (DeviceState{.lowMegahertz = 0, .highMegahertz = 2}));
  EXPECT_EQ(watch.during(all), clockOf(3)) << "the first one that it has still";
}

TEST(DeviceWatch, WaitsForNoReadingOfAMonitorThatFails) {
  auto monitor = std::make_shared<ScriptedMonitor>([](size_t reading) -> Result<DeviceState> {
    if (reading == 0 || reading > 4)
      return unavailable("it tells nothing");
    return clockOf(static_cast<double>(reading));
  });
  DeviceWatch watch(monitor, kLong);
  monitor->beginOf(6);
  const uint64_t never = monotonicNanoseconds() + std::chrono::nanoseconds(1h).count();
  const uint64_t start = monotonicNanoseconds();
  EXPECT_EQ(watch.during(Stretches{{0, never}}), (DeviceState{.lowMegahertz = 1, .highMegahertz = 4}));
  EXPECT_EQ(watch.during(Stretches{{0, never}}), DeviceState());
  EXPECT_LT(monotonicNanoseconds() - start, std::chrono::nanoseconds(kLong).count());
}

// The scripts of monitors that hang own all that they use, as the watch's thread may outlive a test.
TEST(DeviceWatch, WaitsOnceForAMonitorThatHangs) {
  std::promise<void> release;
  auto monitor = std::make_shared<ScriptedMonitor>([released = release.get_future().share()](size_t reading) {
    if (reading == 1)
      released.wait_for(kLong);
    return clockOf(static_cast<double>(reading));
  });
  constexpr int kCalls = 200;
  constexpr std::chrono::nanoseconds kPatience = 100ms;
  DeviceWatch watch(monitor, kPatience);
  const uint64_t moment = monitor->beginOf(1) + 1;
  uint64_t start = monotonicNanoseconds();
  EXPECT_EQ(watch.during(Stretches{{moment, moment}}), DeviceState());
  EXPECT_GE(monotonicNanoseconds() - start, kPatience.count());
  start = monotonicNanoseconds();
  for (int i = 0; i < kCalls; ++i)
    EXPECT_EQ(watch.during(Stretches{{moment, moment}}), DeviceState());
  EXPECT_LT(monotonicNanoseconds() - start, kCalls / 2 * kPatience.count());
  release.set_value();
  monitor->beginOf(3);
  EXPECT_EQ(watch.during(Stretches{{moment, moment}}), clockOf(2)) << "it tells again";
}

TEST(DeviceWatch, EndsWithoutAMonitorThatHangs) {
  std::promise<void> release;
  auto gone = std::make_shared<std::promise<void>>();
  std::future<void> end = gone->get_future();
  auto script = [released = release.get_future().share()](size_t) {
    released.wait_for(kLong);
    return clockOf(1);
  };
  std::shared_ptr<ScriptedMonitor> monitor(new ScriptedMonitor(script), [gone](ScriptedMonitor *deleted) {
    delete deleted;
    gone->set_value();
  });
  {
    DeviceWatch watch(monitor, 50ms);
    monitor->beginOf(0);
    monitor.reset();
  }
  EXPECT_EQ(end.wait_for(0s), std::future_status::timeout) << "the thread owns it, and is in it";
  release.set_value();
  EXPECT_EQ(end.wait_for(kLong), std::future_status::ready) << "the thread has ended";
}

} // namespace
} // namespace kiln
