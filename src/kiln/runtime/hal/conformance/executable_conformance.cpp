// Loading native code, good and bad.
#include "kiln/runtime/hal/conformance/conformance.h"

#include <cmath>
#include <cstring>

namespace kiln::hal::conformance {
namespace {

class ExecutableConformance : public Conformance {
  void SetUp() override {
    Conformance::SetUp();
    if (device && !runsTestFormat(*device))
      GTEST_SKIP() << "the suite's good and bad executables are for CPUs";
  }
};
INSTANTIATE_TEST_SUITE_P(Drivers, ExecutableConformance, testing::ValuesIn(allSubjects()),
                         [](const testing::TestParamInfo<Subject> &info) { return subjectName(info.param); });

std::vector<std::byte> bytesOf(const char *name) {
  Result<Ref<FileContents>> file = testExecutableBytes(name);
  EXPECT_TRUE(file.ok()) << file.status().toString();
  if (!file.ok())
    return {};
  std::span<const std::byte> bytes = (*file)->bytes();
  return {bytes.begin(), bytes.end()};
}

ExecutableSource sourceOf(std::span<const std::byte> bytes) {
  ExecutableSource source;
  source.name = "test";
  source.format = testExecutableFormat();
  source.bytes = bytes;
  return source;
}

TEST_P(ExecutableConformance, ListsExports) {
  std::span<const ExecutableExport> exports = kernels->exports();
  ASSERT_EQ(exports.size(), 9u);
  EXPECT_EQ(exports[ScaleAdd].name, "scale_add");
  EXPECT_EQ(exports[ScaleAdd].bindingCount, 2u);
  EXPECT_EQ(exports[ScaleAdd].constantCount, 3u);
  EXPECT_EQ(exports[ScaleAdd].access, (std::vector{MemoryAccess::Read, MemoryAccess::Write}));
  EXPECT_TRUE(exports[Rendezvous].access.empty());
  EXPECT_EQ(exports[Nothing].name, "nothing");
}

TEST_P(ExecutableConformance, RefusesAnotherFormat) {
  KILN_SKIP_WITHOUT_DISPATCH();
  std::vector<std::byte> bytes = bytesOf("kernels");
  ExecutableSource source = sourceOf(bytes);
  source.format = "ptx";
  KILN_EXPECT_ERROR(device->checkExecutable(source), FailedPrecondition, "has the format 'ptx'; this device runs");
  KILN_EXPECT_ERROR(device->checkExecutable(source), FailedPrecondition, "Recompile with --iree-");
  KILN_EXPECT_ERROR(device->createExecutable(source), FailedPrecondition, "has the format 'ptx'; this device runs");
}

TEST_P(ExecutableConformance, RefusesDamagedBytes) {
  KILN_SKIP_WITHOUT_DISPATCH();
  std::vector<std::byte> good = bytesOf("kernels");
  KILN_EXPECT_ERROR(device->createExecutable(sourceOf({})), DataLoss, "fewer than an ELF header");
  std::vector<std::byte> bad(1000, std::byte('x'));
  KILN_EXPECT_ERROR(device->createExecutable(sourceOf(bad)), DataLoss, "does not start with an ELF header");
  // Cut anywhere up to the end of what is loaded.
  for (size_t length : {size_t(10), size_t(63), size_t(64), size_t(200), size_t(0x400), size_t(0x1000)})
    if (length < good.size()) {
      KILN_EXPECT_ERROR(device->createExecutable(sourceOf(std::span(good).first(length))), DataLoss, "'test'");
    }
  // Another machine, class and kind of file.
  bad = good;
  bad[18] = std::byte(0xF3);
  KILN_EXPECT_ERROR(device->createExecutable(sourceOf(bad)), FailedPrecondition, "its code is for ELF machine 243");
  bad = good;
  bad[4] = std::byte(1);
  KILN_EXPECT_ERROR(device->createExecutable(sourceOf(bad)), DataLoss, "not a little-endian 64-bit shared object");
  bad = good;
  bad[16] = std::byte(1);
  KILN_EXPECT_ERROR(device->createExecutable(sourceOf(bad)), DataLoss, "not a little-endian 64-bit shared object");
  // A table of program headers that lies elsewhere.
  bad = good;
  uint64_t far = UINT64_MAX - 8;
  std::memcpy(bad.data() + 32, &far, 8);
  KILN_EXPECT_ERROR(device->createExecutable(sourceOf(bad)), DataLoss, "program headers lie outside");
  // The good one still loads.
  KILN_EXPECT_OK(statusOf(device->createExecutable(sourceOf(good))));
}

TEST_P(ExecutableConformance, RefusesObjectsThatAreNoExecutable) {
  KILN_SKIP_WITHOUT_DISPATCH();
  KILN_EXPECT_ERROR(loadTestExecutable(*device, "no_query"), DataLoss, "does not export kiln_executable_query");
  KILN_EXPECT_ERROR(loadTestExecutable(*device, "no_function"), DataLoss, "its export 0 has no function");
  KILN_EXPECT_ERROR(loadTestExecutable(*device, "newer"), FailedPrecondition, "needs a newer runtime");
  KILN_EXPECT_ERROR(loadTestExecutable(*device, "old_version"), FailedPrecondition,
                    "version 0 of the executable interface; this runtime has versions 1 to 2. Recompile the module");
  KILN_EXPECT_ERROR(loadTestExecutable(*device, "short_entries"), DataLoss, "its exports have 8 bytes each");
  KILN_EXPECT_ERROR(loadTestExecutable(*device, "future_version"), FailedPrecondition, "version 99");
  KILN_EXPECT_ERROR(loadTestExecutable(*device, "undefined"), DataLoss, "kilnNobodyDefinesThis");
}

// Tables that end earlier, and entries that are longer, than those of this version.
TEST_P(ExecutableConformance, ReadsTablesOfOtherVersions) {
  KILN_SKIP_WITHOUT_DISPATCH();
  for (const char *name : {"version_1", "wide_entries"}) {
    Result<Ref<Executable>> executable = loadTestExecutable(*device, name);
    ASSERT_TRUE(executable.ok()) << executable.status().toString();
    ASSERT_EQ((*executable)->exports().size(), 2u) << name;
    EXPECT_EQ((*executable)->exports()[0].name, "run");
    EXPECT_EQ((*executable)->exports()[1].name, "again");
    EXPECT_EQ((*executable)->exports()[1].bindingCount, 1u);
  }
}

TEST_P(ExecutableConformance, ComparesExportsWithWhatTheProgramExpects) {
  KILN_SKIP_WITHOUT_DISPATCH();
  std::vector<std::byte> bytes = bytesOf("math");
  auto load = [&](std::vector<ExpectedExport> expected) {
    ExecutableSource source = sourceOf(bytes);
    source.exports = expected;
    return statusOf(device->createExecutable(source));
  };
  KILN_EXPECT_OK(load({{"run", 1, 0}}));
  KILN_EXPECT_ERROR(load({{"run", 1, 0}, {"more", 1, 0}}), DataLoss, "the module expects 2 exports; it has 1");
  KILN_EXPECT_ERROR(load({{"walk", 1, 0}}), DataLoss, "its export 0 to be 'walk'; it is 'run'");
  KILN_EXPECT_ERROR(load({{"run", 2, 0}}), DataLoss, "2 bindings and 0 constants; it takes 1 and 0");
  KILN_EXPECT_ERROR(load({{"run", 1, 1}}), DataLoss, "1 bindings and 1 constants; it takes 1 and 0");
}

TEST_P(ExecutableConformance, RefusesCodeForAnotherCpu) {
  KILN_SKIP_WITHOUT_DISPATCH();
  std::vector<std::byte> bytes = bytesOf("kernels");
  ExecutableSource source = sourceOf(bytes);
  source.cpu = "fancy9000";
  source.cpuFeatures = "-avx512f,+no-such-feature";
  KILN_EXPECT_ERROR(device->checkExecutable(source), FailedPrecondition,
                    "module was compiled for CPU 'fancy9000', which needs no-such-feature");
  KILN_EXPECT_ERROR(device->createExecutable(source), FailedPrecondition,
                    "Recompile with --iree-llvmcpu-target-cpu=host or generic");
  source.cpuFeatures = "-no-such-feature,";
  KILN_EXPECT_OK(device->checkExecutable(source));
}

TEST_P(ExecutableConformance, FindsTheMathematicsOfTheProcess) {
  KILN_SKIP_WITHOUT_DISPATCH();
  KILN_ASSERT_ASSIGN(kernels, loadTestExecutable(*device, "math"));
  Ref<Buffer> values = allocate(std::vector<float>{0, 1, -2, 3});
  Ref<CommandBuffer> commands = record(1);
  Dispatch dispatch;
  SlotRange bindings[] = {{0, 0, 16}};
  dispatch.executable = kernels.get();
  dispatch.bindings = bindings;
  KILN_ASSERT_OK(commands->dispatch(dispatch));
  KILN_ASSERT_OK(commands->finalize());
  KILN_ASSERT_OK(run(*commands, table({values})));
  std::vector<float> result = contents<float>(values.get());
  float inputs[] = {0, 1, -2, 3};
  for (int i = 0; i < 4; ++i)
    EXPECT_NEAR(result[i], std::exp(inputs[i]), 1e-5f * std::exp(inputs[i]));
}

TEST_P(ExecutableConformance, LoadsTheSameBytesManyTimes) {
  std::vector<Ref<Executable>> loaded;
  for (int i = 0; i < 20; ++i) {
    KILN_ASSERT_ASSIGN(Ref<Executable> executable, loadTestExecutable(*device, i % 2 ? "kernels" : "math"));
    loaded.push_back(std::move(executable));
    if (i % 3 == 0)
      loaded.erase(loaded.begin());
  }
}

} // namespace
} // namespace kiln::hal::conformance
