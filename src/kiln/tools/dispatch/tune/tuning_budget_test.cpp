// What fits into a budget, with candidates that take as long as the test says.
#include "kiln/tools/dispatch/tune/tuning_budget.h"

#include <algorithm>

#include "gtest/gtest.h"

namespace kiln {
namespace {

TEST(TuningBudget, KeepsTimeForTheFinalists) {
  TuningBudget shortOne(20, 60, {0.5, 0.5});
  EXPECT_DOUBLE_EQ(shortOne.left(0), 20);
  EXPECT_DOUBLE_EQ(shortOne.leftOfSearch(0), 15);
  EXPECT_DOUBLE_EQ(shortOne.leftOfSearch(16), 0);
  EXPECT_DOUBLE_EQ(shortOne.left(16), 4);
  EXPECT_DOUBLE_EQ(shortOne.left(21), 0);
  // What they need at most, where that is less.
  EXPECT_DOUBLE_EQ(TuningBudget(600, 60, {}).leftOfSearch(0), 540);
}

TEST(TuningBudget, CutsBatchesToWhatIsLeft) {
  TuningBudget budget(20, 60, {0.5, 0.5});
  EXPECT_EQ(budget.fitting(64, 0), 14U); // and the anchor
  EXPECT_EQ(budget.fitting(8, 0), 8U);
  EXPECT_EQ(budget.fitting(64, 14.5), 1U); // the first one is never empty
  EXPECT_EQ(budget.fitting(64, 15), 0U);
  EXPECT_DOUBLE_EQ(budget.compilingSeconds(5), 5);
  budget.learn(4, 2, 6); // two seconds each
  EXPECT_EQ(budget.fitting(64, 5), 4U);
  EXPECT_EQ(budget.fitting(64, 12), 0U);
  EXPECT_DOUBLE_EQ(budget.compilingSeconds(5), 2.5);
}

// Whatever candidates take, as long as they keep to it, a search ends in its time.
TEST(TuningBudget, IsNeverExceeded) {
  for (double each : {0.01, 0.3, 1.0, 4.0})
    for (double guess : {0.01, 1.0, 10.0}) {
      TuningBudget budget(60, 15, {guess / 2, guess / 2});
      double spent = 1;
      size_t batches = 0;
      for (size_t count = budget.fitting(16, spent); count > 0; count = budget.fitting(16, spent), ++batches) {
        double compiling = static_cast<double>(count + 1) * each / 2;
        // A guess that is far too low is found out by the compiler, and then by the group.
        double measuring = std::min(compiling, std::max(0.0, budget.leftOfSearch(spent + compiling)));
        compiling = std::min(compiling, budget.compilingSeconds(spent) + each);
        spent += compiling + measuring;
        budget.learn(count + 1, compiling, measuring);
      }
      EXPECT_LE(spent, 45 + each) << each << ", guessed " << guess;
      EXPECT_GT(batches, 0U);
      EXPECT_EQ(budget.fitting(16, 46), 0U);
    }
}

} // namespace
} // namespace kiln
