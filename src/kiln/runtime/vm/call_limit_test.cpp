// Calls that end before they are done: in loops of the VM, in dispatches, and in those that cannot be stopped.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "gtest/gtest.h"

#include "kiln/base/call_limit.h"
#include "kiln/runtime/hal/driver.h"
#include "kiln/runtime/module/test_module.h"
#include "kiln/runtime/vm/hal_module.h"
#include "kiln/runtime/vm/hal_types.h"
#include "kiln/runtime/vm/session.h"
#include "kiln/runtime/vm/testing/abs_program.h"
#include "kiln/targets/drivers.h"

namespace kiln::vm {
namespace {

constexpr uint64_t kMillisecond = 1'000'000, kSecond = 1'000 * kMillisecond;
// The calls here have no end, or one after much longer. What a busy machine adds to a deadline is no concern of theirs.
constexpr uint64_t kLong = 30 * kSecond;

struct Ended {
  Status status;
  uint64_t nanoseconds;
};

template <typename Call> Ended timed(const Call &call) {
  uint64_t began = monotonicNanoseconds();
  Status status = call();
  return {std::move(status), monotonicNanoseconds() - began};
}

template <typename Call> Ended endedAt(Deadline deadline, const Call &call) {
  Ref<CallLimit> limit = makeRef<CallLimit>(deadline);
  CallLimit::Scope scope(*limit);
  return timed(call);
}

template <typename Call> Ended cancelledAfter(uint64_t milliseconds, const Call &call) {
  Ref<CallLimit> limit = makeRef<CallLimit>();
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    limit->cancel();
  });
  CallLimit::Scope scope(*limit);
  Ended ended = timed(call);
  other.join();
  return ended;
}

// A function "f" that goes round for ever: in a branch, or in a conditional one.
Result<std::unique_ptr<Session>> endless(bool conditional) {
  schema::CodeBuilder code;
  code.constant(0, 1);
  schema::Label start = code.newLabel();
  code.bind(start);
  if (conditional)
    code.condBranch(0, start, start);
  else
    code.branch(start);
  schema::ModuleDesc desc = testing::emptyDesc();
  testing::addFunction(desc, "f", "_", 1, 0, std::move(code));
  KILN_ASSIGN_OR_RETURN(Ref<Module> module, testing::loadDesc(desc));
  return Session::create({module}, {});
}

TEST(CallLimit, EndsLoopsOfTheVm) {
  for (bool conditional : {false, true}) {
    auto session = endless(conditional);
    ASSERT_TRUE(session.ok()) << session.status().toString();
    auto call = [&] { return (*session)->call(*(*session)->lookup("f"), {}, {}); };
    Ended late = endedAt(Deadline::after(50 * kMillisecond), call);
    EXPECT_EQ(late.status.code(), StatusCode::DeadlineExceeded) << late.status.toString();
    EXPECT_GE(late.nanoseconds, 50 * kMillisecond);
    EXPECT_LT(late.nanoseconds, kLong);
    EXPECT_NE(late.status.message().find("the call did not end before its deadline\n  at @f+"), std::string::npos)
        << late.status.toString();
    Ended ended = cancelledAfter(50, call);
    EXPECT_EQ(ended.status.code(), StatusCode::Cancelled) << ended.status.toString();
    EXPECT_LT(ended.nanoseconds, kLong);
  }
}

// Functions that call the next one twice take 2^30 calls without a branch: "f0" calls "f1", and so on.
TEST(CallLimit, EndsCallsThatMultiply) {
  constexpr uint32_t kFunctions = 31;
  schema::ModuleDesc desc = testing::emptyDesc();
  for (uint32_t i = 0; i < kFunctions; ++i) {
    schema::CodeBuilder code;
    for (int twice = 0; i + 1 < kFunctions && twice < 2; ++twice)
      code.call(i + 1, {}, {});
    code.ret();
    testing::addFunction(desc, "f" + std::to_string(i), "_", 0, 0, std::move(code));
  }
  Result<Ref<Module>> module = testing::loadDesc(desc);
  ASSERT_TRUE(module.ok()) << module.status().toString();
  auto session = Session::create({*module}, {});
  ASSERT_TRUE(session.ok()) << session.status().toString();
  Ended late =
      endedAt(Deadline::after(50 * kMillisecond), [&] { return (*session)->call(*(*session)->lookup("f0"), {}, {}); });
  EXPECT_EQ(late.status.code(), StatusCode::DeadlineExceeded) << late.status.toString();
  EXPECT_LT(late.nanoseconds, kLong);
}

// Also where the call would ask for nothing on its way.
TEST(CallLimit, NothingBeginsOnceItIsOver) {
  schema::CodeBuilder code;
  code.ret();
  schema::ModuleDesc desc = testing::emptyDesc();
  testing::addFunction(desc, "f", "_", 0, 0, std::move(code));
  auto session = Session::create({*testing::loadDesc(desc)}, {});
  ASSERT_TRUE(session.ok()) << session.status().toString();
  auto call = [&] { return (*session)->call(*(*session)->lookup("f"), {}, {}); };
  EXPECT_TRUE(call().ok());
  EXPECT_EQ(endedAt(Deadline::immediate(), call).status.code(), StatusCode::DeadlineExceeded);
  Ref<CallLimit> limit = makeRef<CallLimit>();
  CallLimit::Scope scope(*limit);
  EXPECT_TRUE(call().ok());
  limit->cancel();
  EXPECT_EQ(call().code(), StatusCode::Cancelled);
}

class CallLimitOnDevice : public ::testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    hal::registerDrivers(registry);
    Result<Ref<hal::Device>> opened = registry.createDevice(GetParam());
    ASSERT_TRUE(opened.ok()) << opened.status().toString();
    device = *opened;
  }
  Result<std::unique_ptr<Session>> load(const schema::ModuleDesc &desc) {
    KILN_ASSIGN_OR_RETURN(Ref<NativeModule> hal, createHalModule({device}));
    KILN_ASSIGN_OR_RETURN(Ref<Module> module, testing::loadDesc(desc));
    return Session::create({module}, {hal});
  }
  Ref<hal::BufferView> number(float value) {
    Ref<hal::Buffer> buffer = *device->allocator().allocate(hal::BufferUsage::External, sizeof(float));
    EXPECT_TRUE(buffer->write(0, std::as_bytes(std::span(&value, 1))).ok());
    return *hal::BufferView::create(buffer, hal::ElementType::F32, {{1}});
  }
  static Status callAbs(Session &session, const Ref<hal::BufferView> &input) {
    Value arguments[] = {Value(input)}, results[1];
    return session.call(*session.lookup("abs"), arguments, results);
  }

  hal::DriverRegistry registry;
  Ref<hal::Device> device;
};

TEST_P(CallLimitOnDevice, EndsBetweenWorkgroups) {
  auto slow = load(testing::absDesc({{1}}, 3, 1 << 30)), plain = load(testing::absDesc({{1}}));
  ASSERT_TRUE(slow.ok() && plain.ok());
  auto call = [&] { return callAbs(**slow, number(1)); };
  Ended late = endedAt(Deadline::after(100 * kMillisecond), call);
  EXPECT_EQ(late.status.code(), StatusCode::DeadlineExceeded) << late.status.toString();
  EXPECT_LT(late.nanoseconds, kLong);
  Ended ended = cancelledAfter(100, call);
  EXPECT_EQ(ended.status.code(), StatusCode::Cancelled) << ended.status.toString();
  EXPECT_LT(ended.nanoseconds, kLong);
  // Nothing is left behind, and who has time is not touched.
  EXPECT_TRUE(callAbs(**plain, number(1)).ok());
  EXPECT_TRUE(endedAt(Deadline::after(60 * kSecond), [&] { return callAbs(**plain, number(1)); }).status.ok());
}

TEST_P(CallLimitOnDevice, OverFromTheStart) {
  auto plain = load(testing::absDesc({{1}}));
  ASSERT_TRUE(plain.ok());
  Ended late = endedAt(Deadline::immediate(), [&] { return callAbs(**plain, number(1)); });
  EXPECT_EQ(late.status.code(), StatusCode::DeadlineExceeded) << late.status.toString();
}

TEST_P(CallLimitOnDevice, WhatCannotBeStoppedLosesItsDevice) {
  if (std::string_view(GetParam()) == "local-sync")
    GTEST_SKIP() << "it runs workgroups on the thread that calls";
  auto waiting = load(testing::absDesc({{1}}, 2)), plain = load(testing::absDesc({{1}}));
  ASSERT_TRUE(waiting.ok() && plain.ok());
  Ref<hal::BufferView> input = number(-1);
  Ended late = endedAt(Deadline::after(50 * kMillisecond), [&] { return callAbs(**waiting, input); });
  EXPECT_EQ(late.status.code(), StatusCode::DeadlineExceeded) << late.status.toString();
  EXPECT_NE(late.status.message().find("the device is lost"), std::string::npos) << late.status.toString();
  EXPECT_LT(late.nanoseconds, kLong);
  Status after = callAbs(**plain, number(1));
  EXPECT_EQ(after.code(), StatusCode::Unavailable) << after.toString();
  EXPECT_NE(after.message().find("create it anew"), std::string::npos) << after.toString();
  // The workgroup is let go, so that the device ends with the test.
  float end = 1;
  EXPECT_TRUE(input->buffer()->write(0, std::as_bytes(std::span(&end, 1))).ok());
}

// The thread that calls runs what another one is at work at: whose call has a limit does not wait for that.
TEST_P(CallLimitOnDevice, DoesNotWaitForTheCallsOfOthers) {
  if (std::string_view(GetParam()) != "local-sync")
    GTEST_SKIP() << "its calls wait for workers, which others lose";
  auto waiting = load(testing::absDesc({{1}}, 2)), plain = load(testing::absDesc({{1}}));
  ASSERT_TRUE(waiting.ok() && plain.ok());
  Ref<hal::BufferView> input = number(-1);
  Status ofOther;
  std::thread other([&] { ofOther = callAbs(**waiting, input); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100)); // in the midst of it, or before: both are right
  Ended late = endedAt(Deadline::after(50 * kMillisecond), [&] { return callAbs(**plain, number(1)); });
  float end = 1;
  EXPECT_TRUE(input->buffer()->write(0, std::as_bytes(std::span(&end, 1))).ok());
  other.join();
  EXPECT_EQ(late.status.code(), StatusCode::DeadlineExceeded) << late.status.toString();
  EXPECT_LT(late.nanoseconds, kLong);
  EXPECT_TRUE(ofOther.ok()) << ofOther.toString();
}

// Of a device that is lost with work in its queue, also what has no limit ends.
TEST(CallLimit, WhatWaitsBehindAStuckWorkgroupFailsWithIt) {
  hal::DriverRegistry registry;
  hal::registerDrivers(registry);
  hal::DeviceOptions options;
  options.task.workerCount = 1;
  Ref<hal::Device> device = *registry.createDevice("local-task", options);
  auto load = [&](const schema::ModuleDesc &desc) {
    return Session::create({*testing::loadDesc(desc)}, {*createHalModule({device})});
  };
  auto number = [&](float value) {
    Ref<hal::Buffer> buffer = *device->allocator().allocate(hal::BufferUsage::External, sizeof(float));
    EXPECT_TRUE(buffer->write(0, std::as_bytes(std::span(&value, 1))).ok());
    return *hal::BufferView::create(buffer, hal::ElementType::F32, {{1}});
  };
  auto callAbs = [](Session &session, const Ref<hal::BufferView> &input) {
    Value arguments[] = {Value(input)}, results[1];
    return session.call(*session.lookup("abs"), arguments, results);
  };
  auto stuck = load(testing::absDesc({{1}}, 2)), plain = load(testing::absDesc({{1}}));
  ASSERT_TRUE(stuck.ok() && plain.ok());
  Ref<hal::BufferView> input = number(-1);
  Status behind;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200)); // the worker is at work by then
    behind = callAbs(**plain, number(1));
  });
  Ended late = endedAt(Deadline::after(500 * kMillisecond), [&] { return callAbs(**stuck, input); });
  EXPECT_NE(late.status.message().find("the device is lost"), std::string::npos) << late.status.toString();
  other.join();
  EXPECT_EQ(behind.code(), StatusCode::Unavailable) << behind.toString();
  float end = 1;
  EXPECT_TRUE(input->buffer()->write(0, std::as_bytes(std::span(&end, 1))).ok());
}

INSTANTIATE_TEST_SUITE_P(Devices, CallLimitOnDevice, ::testing::Values("local-sync", "local-task", "discrete"),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

} // namespace
} // namespace kiln::vm
