// Many calls at the same time, through kiln.h: each thread on a session of its own and on one that all share. Meant for
// ThreadSanitizer; without it, wrong results and crashes are found.
#include <atomic>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "kiln/runtime/capi/capi_fixture.h"

namespace kiln::capi::testing {
namespace {

constexpr int kThreads = 8, kCallsOfThread = 1250;

// The fixture's session is the one that all threads share.
class ConcurrentCalls : public CApiFixture, public ::testing::WithParamInterface<const char *> {
protected:
  ConcurrentCalls() : CApiFixture(GetParam()) {}

  // Calls @abs on four numbers that start with `number`. What it failed with; a wrong result is a failure of the test.
  std::string callAbs(kiln_session_t *used, float number) {
    const kiln_function_t *abs = nullptr;
    std::string message = textOf(kiln_session_lookup(used, "abs", &abs));
    if (!message.empty())
      return message;
    const float mine[] = {number, -1, 2, -3};
    kiln_value_t in = {}, out = {};
    in.kind = KILN_KIND_REF;
    message = textOf(kiln_buffer_view_create(device, KILN_ELEMENT_TYPE_F32, shape, 1, mine, sizeof(mine), &in.as.ref));
    if (!message.empty())
      return message;
    message = textOf(kiln_session_call(used, abs, &in, 1, &out, 1));
    kiln_ref_release(in.as.ref);
    if (!message.empty())
      return message;
    float result[4] = {};
    EXPECT_EQ(textOf(kiln_buffer_view_read(out.as.ref, result, sizeof(result))), "");
    EXPECT_EQ(result[0], std::abs(number));
    EXPECT_EQ(result[3], 3);
    kiln_ref_release(out.as.ref);
    return {};
  }
};

// A call of the shared session is refused while another thread is in it; every other call succeeds.
TEST_P(ConcurrentCalls, TenThousandOnSharedAndOwnSessions) {
  std::atomic<int> succeeded{0}, refused{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      kiln_session_t *own = nullptr;
      EXPECT_EQ(textOf(newSession(&own)), "");
      for (int i = 0; i < kCallsOfThread; ++i) {
        kiln_device_retain(device);
        kiln_session_t *used = i % 3 == 0 ? session : own;
        std::string message = callAbs(used, static_cast<float>(-kCallsOfThread * t - i));
        ++(message.empty() ? succeeded : refused);
        if (!message.empty()) {
          EXPECT_EQ(used, session) << message;
          EXPECT_NE(message.find("another thread is in a call"), std::string::npos) << message;
        }
        kiln_device_release(device);
      }
      kiln_session_release(own);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(succeeded + refused, kThreads * kCallsOfThread);
  EXPECT_GE(succeeded, kThreads * (kCallsOfThread * 2 / 3));
  EXPECT_TRUE(misuses.empty()) << misuses.front();
}

INSTANTIATE_TEST_SUITE_P(Devices, ConcurrentCalls, ::testing::Values("local-sync", "local-task"),
                         [](const auto &info) { return info.index == 0 ? "sync" : "task"; });

} // namespace
} // namespace kiln::capi::testing
