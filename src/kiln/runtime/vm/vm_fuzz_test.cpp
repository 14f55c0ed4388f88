// Code that passed the verifier is safe to run, whatever it is: random instructions are offered to the verifier, and
// what it accepts runs. Meant for the sanitizers; without them it still finds crashes.
#include "gtest/gtest.h"

#include "kiln/runtime/module/test_module.h"
#include "kiln/runtime/vm/session.h"
#include "kiln/runtime/vm/testing/random_program.h"

namespace kiln::vm {
namespace {

TEST(VmFuzz, whatTheVerifierAcceptsIsSafeToRun) {
  size_t refused = 0, succeeded = 0, failed = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    schema::ModuleDesc desc = testing::randomProgram("fuzz", seed);
    Result<Ref<Module>> module = testing::loadDesc(desc);
    if (!module.ok()) {
      ++refused;
      continue;
    }
    Ref<NativeModule> host = testing::randomProgramHost(desc);
    SessionOptions options;
    options.maxCallDepth = 8;
    options.stackBytes = 4096;
    auto session = Session::create({*module}, {host}, options);
    ASSERT_TRUE(session.ok()) << session.status().toString();
    for (const Function &function : (*session)->exports()) {
      Value arguments[] = {Value::i64(seed), Value(), Value()};
      Value results[2];
      ++((*session)->call(function, arguments, results).ok() ? succeeded : failed);
    }
  }
  EXPECT_GT(refused, 100u);
  EXPECT_GT(succeeded, 1000u);
  EXPECT_GT(failed, 100u);
}

} // namespace
} // namespace kiln::vm
