#include "kiln/targets/cuda/driver/cuda_executable.h"

#include "kiln/schema/gpu_executable.h"
#include "kiln/schema/gpu_executable_generated.h"
#include "kiln/targets/cuda/driver/cuda_driver.h"

#include "gtest/gtest.h"

namespace kiln::hal {
namespace {

TEST(CudaArchitecture, runsOnWhatIsAsNewOrNewer) {
  EXPECT_TRUE(checkCudaArchitecture("sm_80", 8, 0).ok());
  EXPECT_TRUE(checkCudaArchitecture("sm_80", 9, 0).ok());
  EXPECT_TRUE(checkCudaArchitecture("sm_90a", 9, 0).ok());
  EXPECT_TRUE(checkCudaArchitecture("sm_75", 12, 0).ok());
  EXPECT_EQ(checkCudaArchitecture("sm_90a", 10, 0).message(),
            "it is for sm_90a, and the device is sm_100. Recompile with --iree-hal-cuda-llvm-target-arch=sm_100");
  EXPECT_EQ(checkCudaArchitecture("sm_90", 8, 9).code(), StatusCode::FailedPrecondition);
  for (std::string_view wrong : {"", "sm_", "sm_x", "znver4", "sm_90b", "sm_9999999999999"})
    EXPECT_EQ(checkCudaArchitecture(wrong, 9, 0).code(), StatusCode::DataLoss) << wrong;
}

TEST(CudaExecutable, otherFormatsAreToldWhatToDo) {
  ExecutableSource source;
  source.name = "module";
  source.format = "elf-x86_64";
  Status status = CudaExecutable::check(source, CudaProperties{});
  EXPECT_EQ(status.message(), "executable 'module' has the format 'elf-x86_64'; this device runs 'ptx'. Recompile with "
                              "--iree-hal-target-backends=cuda");
}

// Where there is no GPU, opening a device says why, and listing the build's drivers works.
TEST(CudaDriver, absenceIsUnavailable) {
  CudaDriver driver;
  EXPECT_EQ(driver.name(), "cuda");
  Result<Ref<Device>> device = driver.createDevice({"cuda", ""}, {});
  if (!device.ok()) {
    EXPECT_EQ(device.status().code(), StatusCode::Unavailable) << device.status().toString();
    EXPECT_EQ(driver.devices().status().code(), StatusCode::Unavailable);
  }
}

} // namespace
} // namespace kiln::hal
