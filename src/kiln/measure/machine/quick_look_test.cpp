#include "kiln/measure/machine/quick_look.h"

#include <gtest/gtest.h>

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
  EXPECT_LE(disturbance(neighbours(0, 1)).size(), 80u);
}

TEST(QuickLook, TakesNoLongerThanItWasGiven) {
  uint64_t start = monotonicNanoseconds();
  Neighbours seen = lookAtMachine(0.05);
  EXPECT_LT(static_cast<double>(monotonicNanoseconds() - start) * 1e-9, 1.0);
  EXPECT_GE(seen.seconds, 0.05);
}

} // namespace
} // namespace kiln::measure
