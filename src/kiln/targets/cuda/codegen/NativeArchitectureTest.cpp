#include "kiln/targets/cuda/codegen/NativeArchitecture.h"

#include "gtest/gtest.h"

namespace kiln {
namespace {

TEST(NativeArchitecture, takesWhatTheGpuAloneHasOrTheNewestThatItRuns) {
  llvm::StringRef known[] = {"sm_75", "sm_80", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a"};
  EXPECT_EQ(chooseArchitecture(known, 8, 0), "sm_80");
  EXPECT_EQ(chooseArchitecture(known, 8, 6), "sm_80");
  EXPECT_EQ(chooseArchitecture(known, 9, 0), "sm_90a");
  EXPECT_EQ(chooseArchitecture(known, 10, 3), "sm_100");
  EXPECT_EQ(chooseArchitecture(known, 12, 1), "sm_100");
  EXPECT_EQ(chooseArchitecture(known, 7, 0), "");
}

} // namespace
} // namespace kiln
