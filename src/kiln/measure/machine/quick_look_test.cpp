#include "kiln/measure/machine/quick_look.h"

#include <thread>

#include <gtest/gtest.h>

#include "fmt/format.h"
#include "kiln/base/clock.h"

namespace kiln::measure {
namespace {

Neighbours neighbours(double busy, double stolen) {
  Neighbours result;
  result.busyCpus = busy;
  result.stolen = stolen;
  return result;
}

TEST(QuickLook, AQuietMachineIsNotWarnedOf) {
  EXPECT_EQ(disturbance(neighbours(0, 0)), "");
  EXPECT_EQ(disturbance(neighbours(0.1, 0.01)), "");
  EXPECT_EQ(disturbance(Neighbours()), "") << "nothing is known";
  Neighbours loaded = neighbours(0.05, 0);
  loaded.load = 12; // what ran within the last minute, compilers of ours among it
  EXPECT_EQ(disturbance(loaded), "");
}

TEST(QuickLook, NeighboursAreNamed) {
  Neighbours busy = neighbours(1.26, 0);
  EXPECT_EQ(disturbance(busy), "warning: others keep 1.3 CPUs busy: wait, or see `kiln doctor`");
  busy.processes = {{12, "clang++", 1.0}, {13, "ninja", 0.2}};
  EXPECT_EQ(disturbance(busy), "warning: others keep 1.3 CPUs busy (clang++): wait, or see `kiln doctor`");
}

TEST(QuickLook, StealIsTold) {
  EXPECT_EQ(disturbance(neighbours(0, 0.07)),
            "warning: other machines on this host take 7 % of its CPUs; see `kiln doctor`");
}

TEST(QuickLook, FitsIntoALine) {
  Neighbours busy = neighbours(127.9, 0.99);
  busy.processes = {{1, std::string(100, 'x'), 100}};
  EXPECT_LE(disturbance(busy).size(), 80u);
  busy = neighbours(1.26, 0);
  busy.processes = {{1, "kiln-lab-worker", 1}};
  EXPECT_NE(disturbance(busy).find("(kiln-lab-worker)"), std::string::npos) << "the system's names have 15 letters";
  EXPECT_LE(disturbance(neighbours(0, 1)).size(), 80u);
}

TEST(QuickLook, WaitsForWhatIsLeftOnly) {
  auto secondsOf = [](auto &&work) {
    uint64_t start = monotonicNanoseconds();
    work();
    return static_cast<double>(monotonicNanoseconds() - start) * 1e-9;
  };
  constexpr double whole = 1.6; // so long that a busy machine adds little to it
  QuickLook early(whole), late(whole), never(60);
  std::this_thread::sleep_for(std::chrono::milliseconds(2400));
  Neighbours seen;
  EXPECT_LT(secondsOf([&] { seen = early.finish(); }), whole / 2) << "it had looked long enough";
  EXPECT_GE(seen.seconds, whole);
  // Nothing is told of what was longer ago, however long it took.
  std::this_thread::sleep_for(std::chrono::milliseconds(3200));
  EXPECT_LT(late.finish().seconds, 2 * whole);
  QuickLook sudden(whole);
  EXPECT_GE(secondsOf([&] { seen = sudden.finish(); }), whole / 2);
  EXPECT_GE(seen.seconds, whole * 0.99);
}

// As in /proc/<pid>/stat, with so many ticks of its own and of children that it has waited for.
ProcessTimes process(unsigned parent, uint64_t ticks, uint64_t ended = 0) {
  return *parseProcessTimes(fmt::format("1 (x) S {} 0 0 0 0 0 0 0 0 0 {} 0 {} 0 0 0 0 0 77 0", parent, ticks, ended));
}

TEST(QuickLook, OwnChildrenAreNoNeighbours) {
  ActivitySnapshot before, after;
  before.machine = CpuTimes{0, 0, 0};
  before.processes = {{1, process(0, 0)}, {10, process(1, 5, 3)}, {11, process(10, 40)}, {50, process(1, 7)}};
  after.nanoseconds = 1'000'000'000;
  after.machine = CpuTimes{150, 50, 0};
  // 11 has ended since, with 60 ticks in all; 12 and its child 13 are new; 50 is somebody else.
  after.processes = {
      {1, process(0, 0)}, {10, process(1, 15, 63)}, {12, process(10, 30)}, {13, process(12, 20)}, {50, process(1, 37)}};
  Neighbours seen = watch(before, after, 10, 100);
  EXPECT_DOUBLE_EQ(*seen.busyCpus, 0.7) << "of 150 ticks 10 were its own, and 70 those of its children";
  ASSERT_EQ(seen.processes.size(), 1U);
  EXPECT_EQ(seen.processes[0].pid, 50U);
}

} // namespace
} // namespace kiln::measure
