#include "gtest/gtest.h"

#include <algorithm>
#include <filesystem>
#include <sys/resource.h>
#include <unistd.h>

#include "kiln/base/sanitized.h"
#include "tests/tools/sample_modules.h"
#include "tests/tools/tool_process.h"

namespace kiln::testing {
namespace {

using Arguments = std::vector<std::string>;
using namespace std::string_literals;

class RunModuleTest : public ::testing::Test {
protected:
  // Runs a function of the sample module on local-sync.
  ProcessResult run(const std::string &function, Arguments more = {}, const ProcessOptions &options = {}) {
    more.insert(more.begin(), {"--module=" + sample, "--device=local-sync", "--function=" + function});
    return runTool("kiln-run-module", more, options);
  }

  Folder folder;
  std::string sample = folder.write("sample.vmfb", sampleModule());
};

TEST_F(RunModuleTest, DocumentedAbs) {
  std::string module = folder.write("module.vmfb", absModule());
  for (const char *device : {"local-sync", "local-task"}) {
    for (const char *tool : {"kiln-run-module", "compat/iree-run-module"}) {
      ProcessResult result =
          runTool(tool, {"--device="s + device, "--module=" + module, "--function=abs", "--input=f32=-2"});
      EXPECT_EQ(result.exitCode, 0) << result.error;
      EXPECT_EQ(result.out, "EXEC @abs\nresult[0]: hal.buffer_view\nf32=2\n");
      EXPECT_EQ(result.error, "");
      if (!kSanitized)
        EXPECT_LE(result.peakMemoryBytes, 25u << 20);
    }
  }
}

TEST_F(RunModuleTest, SoleFunctionAndDefaultDeviceAndStandardInput) {
  ProcessOptions options;
  options.input = absModule();
  ProcessResult result = runTool("kiln-run-module", {"--module=-", "-input=f32=-3"}, options);
  EXPECT_EQ(result.out, "EXEC @abs\nresult[0]: hal.buffer_view\nf32=3\n") << result.error;
}

// Flags of the documents for GPUs say what happens instead, on standard error, and only where that is something else.
TEST_F(RunModuleTest, FlagsThatSetUpDriversAreAccepted) {
  ProcessResult result = run("identity", {"--input=4xf32=1", "--cuda_use_streams=true", "--cuda_tracing",
                                          "--cuda_async_allocations=false", "--cuda_allow_inline_execution=false",
                                          "--cuda_default_index_from_mpi=false", "--cuda_default_index=1"});
  EXPECT_EQ(result.exitCode, 0) << result.error;
  EXPECT_EQ(result.out, "EXEC @identity\nresult[0]: hal.buffer_view\n4xf32=1 1 1 1\n");
  EXPECT_CONTAINS(result.error, "kiln-run-module: note: --cuda_use_streams has no effect. Commands go into a stream");
  EXPECT_CONTAINS(result.error, "kiln-run-module: note: --cuda_tracing has no effect. There is no Tracy here.");
  EXPECT_EQ(std::ranges::count(result.error, '\n'), 2) << result.error;
  EXPECT_CONTAINS(run("identity", {"--input=4xf32=1", "--cuda_default_index=x"}).error, "--cuda_default_index: 'x'");
  ProcessResult index = run("identity", {"--input=4xf32=1", "--device=cuda", "--cuda_default_index=4096"});
  EXPECT_EQ(index.exitCode, 1);
  EXPECT_CONTAINS(index.error, "--device=cuda://4096: ");
}

TEST_F(RunModuleTest, FunctionNames) {
  EXPECT_EQ(run("@identity", {"--input=4xf32=[1 2 3 4]"}).out,
            "EXEC @identity\nresult[0]: hal.buffer_view\n4xf32=1 2 3 4\n");
  ProcessResult missing = run("identiyt");
  EXPECT_EQ(missing.exitCode, 1);
  EXPECT_CONTAINS(missing.error, "exports no function 'identiyt'; it exports: identity, four");
  EXPECT_CONTAINS(missing.error, "did you mean 'identity'?");
  ProcessResult several = runTool("kiln-run-module", {"--module=" + sample});
  EXPECT_EQ(several.exitCode, 1);
  EXPECT_CONTAINS(several.error, "choose one with --function: identity, four");
}

TEST_F(RunModuleTest, Scalars) {
  ProcessResult result = run("scalars", {"--input=-7", "--input=i64=8", "--input=1.5", "--input=-2.25"});
  EXPECT_EQ(result.out,
            "EXEC @scalars\nresult[0]: i32=-7\nresult[1]: i64=8\nresult[2]: f32=1.5\nresult[3]: f64=-2.25\n")
      << result.error;
  EXPECT_EQ(run("narrow", {"--input=-5"}).out, "EXEC @narrow\nresult[0]: i8=-5\n");
  EXPECT_EQ(run("half", {"--input=0.1"}).out, "EXEC @half\nresult[0]: f16=0.0999756\n");
  EXPECT_EQ(run("half", {"--input=f16=2", "--expected_output=f16=2"}).exitCode, 0);
  EXPECT_EQ(run("truth", {"--input=true", "--expected_output=true"}).exitCode, 0);
  EXPECT_EQ(run("truth", {"--input=false"}).out, "EXEC @truth\nresult[0]: i1=0\n");
  EXPECT_CONTAINS(run("narrow", {"--input=true"}).error, "input 0: 'true' is not an integer i8 number");
  EXPECT_CONTAINS(run("narrow", {"--input=300"}).error, "input 0: 300 is out of the range of i8");
  EXPECT_CONTAINS(run("scalars", {"--input=1.5", "--input=8", "--input=1", "--input=2"}).error,
                  "input 0: '1.5' is not an integer i32 number");
  EXPECT_CONTAINS(run("scalars", {"--input=2xi32=1", "--input=8", "--input=1", "--input=2"}).error,
                  "input 0: a scalar is taken here, and 2xi32 is a tensor");
  EXPECT_CONTAINS(run("scalars", {"--input=f32=1", "--input=8", "--input=1", "--input=2"}).error,
                  "input 0: a scalar i32 is taken here, not f32");
  EXPECT_CONTAINS(run("identity", {"--input=7"}).error, "input 0: a tensor is taken here; write f32=7");
}

TEST_F(RunModuleTest, ResultsFromTheDevice) {
  EXPECT_EQ(run("fill", {"--input=3"}).out, "EXEC @fill\nresult[0]: hal.buffer_view\n3xf32=1.5 1.5 1.5\n");
  EXPECT_EQ(run("fill", {"--input=5", "--output_max_element_count=2"}).out,
            "EXEC @fill\nresult[0]: hal.buffer_view\n5xf32=1.5 1.5...\n");
  EXPECT_EQ(run("nothing").out, "EXEC @nothing\nresult[0]: null\n");
  EXPECT_EQ(run("transients").out, "EXEC @transients\n");
}

TEST_F(RunModuleTest, WrongInputs) {
  ProcessResult count = run("four", {"--input=4xf32=1", "--input=4xf32=1"});
  EXPECT_EQ(count.exitCode, 1);
  EXPECT_EQ(count.out, "");
  EXPECT_EQ(count.error, "kiln-run-module: error: @four takes 1 input, and 2 are given: sync func @four(%input0: "
                         "tensor<4xf32>) -> (%output0: tensor<4xf32>)\n");
  EXPECT_CONTAINS(run("pair").error, "@pair takes 2 inputs, and 0 are given: @pair with the signature rr_rr");
  ProcessResult shape = run("four", {"--input=2x2xf32=1"});
  EXPECT_EQ(shape.exitCode, 1);
  EXPECT_CONTAINS(shape.error, "input 0: expected 4xf32, got 2x2xf32");
  EXPECT_CONTAINS(shape.error, "The function is sync func @four(%input0: tensor<4xf32>)");
  EXPECT_CONTAINS(run("four", {"--input=4xf64=1"}).error, "input 0: expected 4xf32, got 4xf64");
  EXPECT_CONTAINS(run("four", {"--input=4xf32=[1 2 3]"}).error, "3 values are given, and 4xf32 has 4 elements");
  EXPECT_CONTAINS(run("four", {"--input=@" + (folder / "none.npy")}).error, "No such file or directory");
}

TEST_F(RunModuleTest, NpyInputsAndOutputs) {
  std::string a = folder / "a.npy", b = folder / "b.npy";
  ASSERT_EQ(run("identity", {"--input=4xf32=1 2 3 4", "--output=@" + a}).out, "EXEC @identity\n");
  ASSERT_EQ(run("identity", {"--input=4xf16=5", "--output=+" + a}).exitCode, 0);
  EXPECT_CONTAINS(run("four", {"--input=@" + a}).out, "4xf32=1 2 3 4");
  EXPECT_CONTAINS(run("pair", {"--input=*" + a}).out,
                  "result[0]: hal.buffer_view\n4xf16=5 5 5 5\nresult[1]: hal.buffer_view\n4xf32=1 2 3 4\n");
  EXPECT_CONTAINS(run("pair", {"--input=@" + a, "--input=+" + a}).out, "4xf16=5 5 5 5\n");
  ASSERT_EQ(run("identity", {"--input=4xf64=1", "--output=@" + b}).exitCode, 0);
  ProcessResult dtype = run("four", {"--input=@" + b});
  EXPECT_EQ(dtype.exitCode, 1);
  EXPECT_CONTAINS(dtype.error, "expected 4xf32, got 4xf64 (the element type is f64, not f32)");
  EXPECT_CONTAINS(dtype.error, "\n--input=@" + b + " holds 4xf64\nThe function is sync func @four");
  EXPECT_CONTAINS(run("pair", {"--input=*" + a, "--input=+" + a}).error, "a.npy' holds only 2 arrays");
}

// NumPy knows no signless integers: what it calls uint8 is fine for i8.
TEST_F(RunModuleTest, SignsOfIntegersDoNotMatter) {
  EXPECT_EQ(run("bytes", {"--input=2xui8=255"}).out, "EXEC @bytes\nresult[0]: hal.buffer_view\n2xi8=-1 -1\n");
  EXPECT_CONTAINS(run("bytes", {"--input=2xi16=1"}).error, "expected 2xi8, got 2xi16");
}

TEST_F(RunModuleTest, BinaryOutputs) {
  std::string path = folder / "x.bin";
  ASSERT_EQ(run("identity", {"--input=2xi8=1 2", "--output=@" + path}).exitCode, 0);
  ASSERT_EQ(run("identity", {"--input=1xi8=3", "--output=+" + path}).exitCode, 0);
  EXPECT_EQ(readFile(path), "\1\2\3");
  EXPECT_CONTAINS(run("identity", {"--input=3xi8=@" + path}).out, "3xi8=1 2 3");
  EXPECT_EQ(run("pair", {"--input=f32=1", "--input=f32=2", "--output=-", "--output=@" + path}).out,
            "EXEC @pair\nresult[0]: hal.buffer_view\nf32=2\n");
}

TEST_F(RunModuleTest, WrongOutputs) {
  EXPECT_CONTAINS(run("identity", {"--input=f32=1", "--output=-", "--output=-"}).error,
                  "2 --output flags are given, and @identity has 1 result: ");
  EXPECT_CONTAINS(run("pair", {"--input=f32=1", "--input=f32=1", "--output=-"}).error,
                  "1 --output flag is given, and @pair has 2 results: ");
  ProcessResult bad = run("identity", {"--input=f32=1", "--output=x.npy"});
  EXPECT_EQ(bad.out, ""); // told before anything runs
  EXPECT_CONTAINS(bad.error, "--output=x.npy: write -, @f.npy");
  EXPECT_CONTAINS(run("nothing", {"--output=@" + (folder / "x.npy")}).error, "has no elements that could be written");
}

TEST_F(RunModuleTest, ExpectedOutputs) {
  ProcessResult success = run(
      "pair", {"--input=f32=1", "--input=2xi32=[3 4]", "--expected_output=2xi32=3 4", "--expected_output=f32=1.00001"});
  EXPECT_EQ(success.exitCode, 0);
  EXPECT_EQ(success.out, "EXEC @pair\n[SUCCESS] all function outputs matched their expected values.\n");
  ProcessResult failure =
      run("pair", {"--input=f32=1", "--input=f32=-2", "--expected_output=f32=123", "--expected_output=(ignored)"});
  EXPECT_EQ(failure.exitCode, 1);
  EXPECT_EQ(failure.out, "EXEC @pair\n"
                         "[FAILED] result[0]: element at index 0 (-2) does not match the expected (123)\n"
                         "  expected:\nf32=123\n  actual:\nf32=-2\n");
  EXPECT_EQ(failure.error, "");
  EXPECT_EQ(run("identity", {"--input=f32=1", "--expected_output=f32=1.00001", "--equality_mode=exact"}).exitCode, 1);
  EXPECT_CONTAINS(run("identity", {"--input=f32=1", "--expected_output=2xf32"}).out,
                  "[FAILED] result[0]: shape f32 does not match the expected 2xf32\n");
  EXPECT_CONTAINS(run("nothing", {"--expected_output=f32"}).out,
                  "[FAILED] result[0]: null does not match the expected f32");
  EXPECT_EQ(run("scalars", {"--input=1", "--input=2", "--input=3", "--input=4", "--expected_output=1",
                            "--expected_output=i64=2", "--expected_output=3", "--expected_output=4.0"})
                .exitCode,
            0);
  EXPECT_CONTAINS(run("pair", {"--input=f32=1", "--input=f32=2", "--expected_output=f32=2"}).error,
                  "1 value is expected, and the function has 2 results");
}

TEST_F(RunModuleTest, InterruptedOrOutOfTimeItSaysWhereItIs) {
  std::string endless = folder.write("endless.vmfb", endlessModule());
  std::vector<std::string> arguments = {"--module=" + endless, "--function=forever", "--device=local-sync"};
  ProcessOptions options;
  options.whenPrinted = "EXEC @forever";
  ProcessResult interrupted = runTool("kiln-run-module", arguments, options);
  EXPECT_EQ(interrupted.exitCode, 130);
  EXPECT_LT(interrupted.secondsAfterInterrupt, 30); // the call has no end
  EXPECT_CONTAINS(interrupted.error, "kiln-run-module: error: interrupted after ");
  EXPECT_CONTAINS(interrupted.error, " s while calling @forever; nothing was written\n");
  arguments.push_back("--timeout=4"); // long beside loading the module, on a busy machine too
  ProcessResult late = runTool("kiln-run-module", arguments);
  EXPECT_EQ(late.exitCode, 124);
  EXPECT_CONTAINS(late.error, "kiln-run-module: error: --timeout=4: ended after ");
  EXPECT_CONTAINS(late.error, " s while calling @forever; nothing was written\n");
  EXPECT_EQ(run("fill", {"--input=3", "--timeout=100"}).exitCode, 0);
  EXPECT_CONTAINS(run("fill", {"--input=3", "--timeout=-1"}).error, "--timeout: '-1' is no number of 0 or more");
}

TEST_F(RunModuleTest, FailingFunction) {
  ProcessResult result = run("fails");
  EXPECT_EQ(result.exitCode, 1);
  EXPECT_EQ(result.out, "EXEC @fails\n");
  EXPECT_CONTAINS(result.error, "kiln-run-module: error: went wrong");
  EXPECT_CONTAINS(result.error, "fails");
}

// No kernel writes them, and they are not what the memory held before.
TEST_F(RunModuleTest, ResultsOfTheNullDeviceAreZeros) {
  std::string module = folder.write("abs.vmfb", absModule());
  for (const char *allocator : {"direct", "caching"})
    EXPECT_EQ(runTool("kiln-run-module",
                      {"--module=" + module, "--device=null", "--input=f32=-2", "--device_allocator="s + allocator})
                  .out,
              "EXEC @abs\nresult[0]: hal.buffer_view\nf32=0\n");
}

// A program without a name is called "module".
TEST_F(RunModuleTest, ModulesOfOneName) {
  std::string first = folder.write("first.vmfb", sampleModule("module"));
  std::string second = folder.write("second.vmfb", sampleModule("module"));
  auto call = [&](const std::string &function, Arguments modules) {
    for (const char *more : {"--input=f32=3", "--device=local-sync"})
      modules.emplace_back(more);
    modules.push_back("--function=" + function);
    return runTool("kiln-run-module", modules);
  };
  for (const char *function : {"identity", "module.identity", "second.identity"})
    EXPECT_EQ(call(function, {"--module=" + first, "--module=" + second}).out,
              "EXEC @identity\nresult[0]: hal.buffer_view\nf32=3\n")
        << function;
  ProcessResult twice = call("identity", {"--module=" + sample, "--module=" + sample});
  EXPECT_EQ(twice.exitCode, 1);
  EXPECT_CONTAINS(twice.error, "two modules would be called 'sample': '" + sample + "' and '" + sample + "'. Give one");
}

TEST_F(RunModuleTest, MissingAndDamagedModules) {
  ProcessResult missing = runTool("kiln-run-module", {"--module=" + (folder / "none.vmfb")});
  EXPECT_EQ(missing.exitCode, 1);
  EXPECT_CONTAINS(missing.error, "none.vmfb': No such file or directory");
  EXPECT_CONTAINS(runTool("kiln-run-module", {}).error, "--module=FILE says what to run");
  std::string bytes = sampleModule();
  std::string truncated = folder.write("truncated.vmfb", bytes.substr(0, bytes.size() / 2));
  ProcessResult cut = runTool("kiln-run-module", {"--module=" + truncated});
  EXPECT_EQ(cut.exitCode, 1);
  EXPECT_CONTAINS(cut.error, "truncated");
  bytes[bytes.size() / 2] ^= 1;
  std::string flipped = folder.write("flipped.vmfb", bytes);
  EXPECT_EQ(runTool("kiln-run-module", {"--module=" + flipped, "--function=nothing"}).exitCode, 1);
}

TEST_F(RunModuleTest, Devices) {
  ProcessResult unknown = run("nothing", {"--device=local-taks"});
  EXPECT_EQ(unknown.exitCode, 1);
  EXPECT_CONTAINS(unknown.error, "--device=local-taks: no driver 'local-taks' in this build");
  EXPECT_CONTAINS(unknown.error, "did you mean 'local-task'?");
  EXPECT_CONTAINS(unknown.error, "The devices are: cuda-sim://0, discrete, local-sync, local-task");

  ProcessResult drivers = runTool("kiln-run-module", {"--list_drivers=vulkan"});
  EXPECT_EQ(drivers.exitCode, 0);
  EXPECT_CONTAINS(drivers.out, "# ============================================================================\n"
                               "# Available HAL drivers\n"
                               "# ============================================================================\n"
                               "# Use --list_devices={driver name} to enumerate available devices.\n"
                               "\n"
                               "            cuda: ");
  EXPECT_CONTAINS(drivers.out, "\n      local-sync: ");
  EXPECT_CONTAINS(drivers.out, "\n      local-task: ");
  EXPECT_CONTAINS(runTool("kiln-run-module", {"--list_devices"}).out, "  local-task ");
  ProcessResult one = runTool("kiln-run-module", {"--list_devices=local-sync"});
  EXPECT_CONTAINS(one.out, "  local-sync ");
  EXPECT_LACKS(one.out, "local-task");
  EXPECT_EQ(runTool("kiln-run-module", {"--list_devices=none"}).exitCode, 1);
  EXPECT_CONTAINS(runTool("kiln-run-module", {"--dump_devices=local-task"}).out, "# --device=local-task");
  const std::string discrete = runTool("kiln-run-module", {"--dump_devices=discrete"}).out;
  EXPECT_CONTAINS(discrete, "  alignment of buffers:                 256\n");
  EXPECT_CONTAINS(discrete, "  bytes of a buffer at most:            4294967296\n");
}

TEST_F(RunModuleTest, WorkersAndAllocators) {
  for (const char *allocator : {"direct", "caching", "debug"})
    EXPECT_EQ(runTool("kiln-run-module", {"--module=" + sample, "--device=local-task", "--task_topology_group_count=3",
                                          "--device_allocator="s + allocator, "--function=fill", "--input=2"})
                  .out,
              "EXEC @fill\nresult[0]: hal.buffer_view\n2xf32=1.5 1.5\n");
  EXPECT_CONTAINS(run("fill", {"--device_allocator=odd"}).error, "'odd' is not one of default|direct|caching|debug");
}

TEST_F(RunModuleTest, Statistics) {
  ProcessResult result = run("transients", {"--print_statistics"});
  EXPECT_CONTAINS(result.error, "[[ memory statistics of local-sync ]]\n");
  EXPECT_CONTAINS(
      result.error,
      "   TRANSIENT:         4096B peak /         8192B allocated /         8192B freed /            0B live\n");
  EXPECT_CONTAINS(
      run("fill", {"--input=256", "--print_statistics"}).error,
      "  HOST_LOCAL:         1024B peak /         1024B allocated /         1024B freed /            0B live\n");
}

TEST_F(RunModuleTest, Trace) {
  ProcessResult result = run("transients", {"--trace_execution"});
  EXPECT_EQ(result.out, "EXEC @transients\n");
  EXPECT_CONTAINS(result.error, "hal.buffer.allocate");
  EXPECT_CONTAINS(result.error, "return");
}

TEST_F(RunModuleTest, FlagMistakes) {
  ProcessResult result = run("identity", {"--inptu=f32=1"});
  EXPECT_EQ(result.exitCode, 1);
  EXPECT_EQ(result.error, "kiln-run-module: error: unknown flag '--inptu'; did you mean '--input'?\n");
  EXPECT_CONTAINS(run("identity", {"--parameters=model=x.irpa"}).error,
                  "--parameters=model=x.irpa: cannot open 'x.irpa': No such file or directory");
}

TEST_F(RunModuleTest, FlagFiles) {
  std::string flags = folder.write("flags", "# what to run\n--module=" + sample + "\n--function=identity\n");
  ProcessResult result = runTool("kiln-run-module", {"--flagfile=" + flags, "--input=2xf32=[1 2]"});
  EXPECT_EQ(result.out, "EXEC @identity\nresult[0]: hal.buffer_view\n2xf32=1 2\n") << result.error;
}

TEST_F(RunModuleTest, FullDiskAndMissingFolders) {
  ProcessOptions full;
  full.outputPath = "/dev/full";
  ProcessResult console = run("fill", {"--input=3"}, full);
  EXPECT_EQ(console.exitCode, 1);
  EXPECT_CONTAINS(console.error, "cannot write to standard output: No space left on device");

  EXPECT_CONTAINS(runTool("kiln-run-module", {"--dump_devices"}, full).error, "No space left on device");
  // More than the stream holds back.
  EXPECT_CONTAINS(run("fill", {"--input=100000", "--output_max_element_count=100000"}, full).error,
                  "cannot write to standard output: No space left on device");

  ProcessResult device = run("fill", {"--input=3", "--output=@/dev/full"});
  EXPECT_EQ(device.exitCode, 1);
  EXPECT_CONTAINS(device.error, "cannot write '/dev/full': No space left on device");

  std::string link = folder / "link.npy";
  ASSERT_EQ(symlink("/dev/full", link.c_str()), 0);
  EXPECT_EQ(run("fill", {"--input=3", "--output=@" + link}).exitCode, 1);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  std::filesystem::remove(link);

  // Files may have 1000 bytes, as if the disk had no more.
  ProcessOptions limited;
  limited.limits = {{RLIMIT_FSIZE, 1000}};
  std::string old = folder.write("old.npy", "old");
  std::vector<std::string> before = folder.files();
  for (const std::string &output : {"@" + (folder / "new.npy"), "@" + old, "+" + old, "+" + (folder / "new.bin")}) {
    ProcessResult result = run("fill", {"--input=1000", "--output=" + output}, limited);
    EXPECT_EQ(result.exitCode, 1) << output;
    EXPECT_CONTAINS(result.error, "cannot write '" + output.substr(1) +
                                      "': File too large; raise the limit of the size of files (ulimit -f)");
  }
  EXPECT_EQ(folder.files().size(), before.size());
  EXPECT_EQ(readFile(old), "old");

  ProcessResult missing = run("fill", {"--input=3", "--output=@" + (folder / "none/x.npy")});
  EXPECT_EQ(missing.exitCode, 1);
  EXPECT_CONTAINS(missing.error, "the folder '" + (folder / "none") + "' does not exist");
}

TEST_F(RunModuleTest, HelpFitsTheScreen) {
  ProcessResult result = runTool("kiln-run-module", {"--help"});
  EXPECT_EQ(result.exitCode, 0);
  EXPECT_CONTAINS(result.out, "--module=FILE");
  size_t start = 0;
  for (size_t end; (end = result.out.find('\n', start)) != std::string::npos; start = end + 1)
    EXPECT_LE(end - start, 80u) << result.out.substr(start, end - start);
}

} // namespace
} // namespace kiln::testing
