// Asynchronous calls and fences, sessions of one program, and many calls at once, as a program with kiln.h makes them.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "kiln/runtime/capi/capi_fixture.h"

namespace {

using namespace kiln::capi::testing;

constexpr uint64_t kMillisecond = 1'000'000;

// What the compiled @fail() does, as a test likes it.
struct Host {
  std::mutex mutex;
  std::condition_variable changed;
  bool isOpen = true; // while it is not, @fail() waits
  int entered = 0;
  std::thread::id thread; // of the last call
  kiln_fence_t *waitFor = nullptr;
  std::function<kiln_fence_t *()> submit; // gives what to wait for
  const char *failure = nullptr;

  static kiln_status_t *call(void *context, const kiln_value_t *, size_t, kiln_value_t *, size_t) {
    auto *host = static_cast<Host *>(context);
    std::unique_lock lock(host->mutex);
    ++host->entered;
    host->thread = std::this_thread::get_id();
    host->changed.notify_all();
    host->changed.wait(lock, [&] { return host->isOpen; });
    if (host->submit)
      host->waitFor = host->submit();
    if (host->waitFor)
      return kiln_fence_wait(host->waitFor, KILN_NO_TIMEOUT);
    return host->failure ? kiln_status_create(KILN_STATUS_UNAVAILABLE, host->failure) : nullptr;
  }
  void open(bool value) {
    std::lock_guard lock(mutex);
    isOpen = value;
    changed.notify_all();
  }
  void awaitEntered(int count) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return entered >= count; });
  }
};

class CApiAsync : public CApiFixture {
protected:
  CApiAsync() : CApiFixture("local-task", Host::call, &host) {}

  void SetUp() override {
    CApiFixture::SetUp();
    blocking = lookUp(session, "fail");
  }
  // Of sessions of a new program, which is the caller's.
  kiln_session_options_t optionsOfProgram() {
    kiln_session_options_t options = sessionOptions();
    kiln_program_t *program = nullptr;
    must(kiln_program_create(&options, &program));
    options = {};
    options.struct_size = sizeof(options);
    options.program = program;
    return options;
  }
  kiln_fence_t *submit(kiln_session_t *to, const kiln_function_t *what, std::vector<kiln_value_t> arguments = {},
                       const std::vector<kiln_fence_t *> &fences = {}, kiln_call_limit_t *limit = nullptr) {
    kiln_submit_options_t options = {sizeof(options), fences.data(), fences.size(), limit};
    kiln_fence_t *fence = nullptr;
    must(kiln_session_submit(to, what, arguments.data(), arguments.size(), &options, &fence));
    return fence;
  }
  static std::string waitFor(kiln_fence_t *fence) { return textOf(kiln_fence_wait(fence, KILN_NO_TIMEOUT)); }
  // The numbers of @abs, from its fence, which is released.
  static std::vector<float> numbersOf(kiln_fence_t *fence) {
    kiln_value_t out = {};
    std::vector<float> copy(4);
    must(kiln_fence_wait(fence, KILN_NO_TIMEOUT));
    must(kiln_fence_results(fence, &out, 1));
    must(kiln_buffer_view_read(out.as.ref, copy.data(), 16));
    kiln_ref_release(out.as.ref);
    kiln_fence_release(fence);
    return copy;
  }

  static constexpr const char *laterCall =
      "the fence is of a call of the session that this thread is in a call of, and which comes after this one\n  at "
      "native";
  Host host;
  const kiln_function_t *blocking = nullptr; // waits while the host is not open
  const std::vector<float> expected = {1, 2, 3, 4};
};

TEST_F(CApiAsync, ACallReturnsAtOnceAndItsFenceTellsItsEnd) {
  host.open(false);
  kiln_fence_t *first = submit(session, blocking);
  kiln_fence_t *second = submit(session, function, {argument()});
  EXPECT_EQ(kiln_fence_query(first), 0);
  EXPECT_EQ(kiln_status_code(nullptr), KILN_STATUS_OK);
  kiln_status_t *late = kiln_fence_wait(second, kMillisecond);
  EXPECT_EQ(kiln_status_code(late), KILN_STATUS_DEADLINE_EXCEEDED);
  EXPECT_EQ(textOf(late), "the call has not ended within the time that was given to the wait");
  kiln_value_t out = {};
  EXPECT_EQ(textOf(kiln_fence_results(second, &out, 1)), "the call has not ended; wait for its fence");
  EXPECT_EQ(textOf(kiln_fence_wait(second, 0)), "the call has not ended within the time that was given to the wait");
  host.open(true);
  EXPECT_EQ(waitFor(second), "");
  EXPECT_EQ(kiln_fence_query(first), 1) << "in the order of submission";
  EXPECT_NE(host.thread, std::this_thread::get_id());
  for (int i = 0; i < 2; ++i) { // each time a reference of its own
    must(kiln_fence_results(second, &out, 1));
    float copy[4] = {};
    must(kiln_buffer_view_read(out.as.ref, copy, sizeof(copy)));
    EXPECT_EQ(copy[2], 3);
    kiln_ref_release(out.as.ref);
  }
  EXPECT_EQ(textOf(kiln_fence_results(second, &out, 0)), "the call has 1 results, room is given for 0");
  kiln_fence_release(first);
  kiln_fence_release(second);
  EXPECT_TRUE(misuses.empty());
}

TEST_F(CApiAsync, ErrorsArriveAtTheFence) {
  host.failure = "the host is asleep";
  kiln_fence_t *failed = submit(session, blocking);
  kiln_session_t *other = nullptr;
  must(newSession(&other));
  kiln_fence_t *after = submit(other, lookUp(other, "abs"), {argument()}, {failed});
  kiln_status_t *status = kiln_fence_wait(failed, KILN_NO_TIMEOUT);
  EXPECT_EQ(kiln_status_code(status), KILN_STATUS_UNAVAILABLE);
  EXPECT_NE(textOf(status).find("the host is asleep\n  at native function host.fail"), std::string::npos);
  EXPECT_EQ(kiln_fence_query(failed), 1);
  EXPECT_EQ(waitFor(after).find("the call did not run, because a fence that it waits for failed: the host is asleep"),
            0u);
  kiln_value_t out = {};
  EXPECT_NE(textOf(kiln_fence_results(after, &out, 1)).find("the host is asleep"), std::string::npos);
  EXPECT_FALSE(out.as.ref.object);
  // Wrong arguments are told at once; an error of the compiled program is told by the fence.
  kiln_value_t wrong = {};
  wrong.kind = static_cast<kiln_kind_t>(77);
  kiln_fence_t *none = nullptr;
  EXPECT_EQ(textOf(kiln_session_submit(session, function, &wrong, 1, nullptr, &none)),
            "argument 0 of @abs: there is no kind 77");
  EXPECT_EQ(none, nullptr);
  wrong.kind = KILN_KIND_REF;
  kiln_fence_t *mistaken = submit(session, function, {wrong});
  EXPECT_NE(waitFor(mistaken), "");
  for (kiln_fence_t *fence : {failed, after, mistaken})
    kiln_fence_release(fence);
  kiln_session_release(other);
  host.failure = nullptr;
  EXPECT_EQ(numbersOf(submit(session, function, {argument()})), expected) << "the session is as before";
}

TEST_F(CApiAsync, CallsWaitForFencesOfOtherSessions) {
  kiln_session_t *other = nullptr;
  must(newSession(&other));
  const kiln_function_t *otherAbs = lookUp(other, "abs");
  host.open(false);
  kiln_fence_t *gate = submit(session, blocking);
  kiln_fence_t *after = submit(other, otherAbs, {argument()}, {gate});
  host.awaitEntered(1);
  EXPECT_EQ(textOf(kiln_fence_wait(after, 20 * kMillisecond)),
            "the call has not ended within the time that was given to the wait");
  host.open(true);
  EXPECT_EQ(numbersOf(after), expected);
  kiln_fence_release(gate);
  kiln_session_release(other);
}

TEST_F(CApiAsync, SynchronousCallsDoNotOvertake) {
  host.open(false);
  kiln_fence_t *first = submit(session, blocking);
  kiln_value_t in = argument(), out = {};
  EXPECT_EQ(textOf(kiln_session_call(session, function, &in, 1, &out, 1)),
            "asynchronous calls of this session have not ended; wait for the fence of the last");
  host.open(true);
  EXPECT_EQ(waitFor(first), "");
  EXPECT_EQ(textOf(kiln_session_call(session, function, &in, 1, &out, 1)), "");
  kiln_ref_release(out.as.ref);
  kiln_fence_release(first);

  // An asynchronous call awaits the synchronous one of another thread.
  host.open(false);
  int before = host.entered;
  std::thread synchronous([&] { EXPECT_EQ(textOf(kiln_session_call(session, blocking, nullptr, 0, nullptr, 0)), ""); });
  host.awaitEntered(before + 1);
  kiln_fence_t *second = submit(session, function, {argument()});
  EXPECT_NE(textOf(kiln_fence_wait(second, 5 * kMillisecond)), "");
  host.open(true);
  EXPECT_EQ(numbersOf(second), expected);
  synchronous.join();
}

TEST_F(CApiAsync, LimitsEndCallsAndTheirWaits) {
  kiln_call_limit_t *limit = nullptr, *shortly = nullptr;
  must(kiln_call_limit_create(KILN_NO_TIMEOUT, &limit));
  kiln_fence_t *endless = submit(session, lookUp(session, "loop"), {}, {}, limit);
  kiln_session_t *other = nullptr;
  must(newSession(&other));
  must(kiln_call_limit_create(10 * kMillisecond, &shortly));
  kiln_fence_t *waiting = submit(other, lookUp(other, "abs"), {argument()}, {endless}, shortly);
  kiln_status_t *status = kiln_fence_wait(waiting, KILN_NO_TIMEOUT);
  EXPECT_EQ(kiln_status_code(status), KILN_STATUS_DEADLINE_EXCEEDED);
  EXPECT_EQ(kiln_fence_query(waiting), 1) << "the call's deadline, not the wait's";
  textOf(status);
  kiln_fence_t *queued = submit(session, function, {argument()}, {}, limit);
  kiln_call_limit_cancel(limit);
  for (kiln_fence_t *fence : {endless, queued}) {
    status = kiln_fence_wait(fence, KILN_NO_TIMEOUT);
    EXPECT_EQ(kiln_status_code(status), KILN_STATUS_CANCELLED);
    textOf(status);
    kiln_fence_release(fence);
  }
  kiln_fence_release(waiting);
  kiln_call_limit_release(limit);
  kiln_call_limit_release(shortly);
  kiln_session_release(other);
}

TEST_F(CApiAsync, SubmittedCallsRunThoughEverythingIsReleased) {
  host.open(false);
  kiln_session_t *gone = nullptr;
  must(newSession(&gone));
  kiln_ref_t input = {};
  must(kiln_buffer_view_create(device, KILN_ELEMENT_TYPE_F32, shape, 1, numbers, sizeof(numbers), &input));
  kiln_value_t in = argument();
  in.as.ref = input;
  kiln_fence_t *first = submit(gone, lookUp(gone, "fail"));
  kiln_fence_t *last = submit(gone, lookUp(gone, "abs"), {in}, {first});
  kiln_fence_release(first);
  kiln_ref_release(input);
  kiln_session_release(gone);
  kiln_fence_t *none = nullptr;
  EXPECT_NE(textOf(kiln_session_submit(gone, function, &in, 1, nullptr, &none)).find("no live kiln_session_t"),
            std::string::npos);
  host.open(true);
  EXPECT_EQ(numbersOf(last), expected);
  EXPECT_TRUE(misuses.empty());
}

TEST_F(CApiAsync, ACallCannotWaitForALaterOneOfItsSession) {
  host.open(false);
  kiln_fence_t *first = submit(session, blocking);
  host.awaitEntered(1);
  host.waitFor = submit(session, function, {argument()});
  host.open(true);
  EXPECT_EQ(waitFor(first).find(laterCall), 0u);
  EXPECT_EQ(numbersOf(host.waitFor), expected);
  kiln_fence_release(first);
  // The same from a call that its caller waits for.
  host.submit = [&] { return submit(session, function, {argument()}); };
  EXPECT_EQ(textOf(kiln_session_call(session, blocking, nullptr, 0, nullptr, 0)).find(laterCall), 0u);
  EXPECT_EQ(numbersOf(host.waitFor), expected);
}

TEST_F(CApiAsync, ALimitEndsTheWaitOfANativeFunction) {
  // The native function waits for a call that waits for the native function's call.
  kiln_session_t *other = nullptr;
  must(newSession(&other));
  for (bool isCancelled : {false, true}) {
    host.open(false);
    kiln_call_limit_t *limit = nullptr;
    must(kiln_call_limit_create(isCancelled ? KILN_NO_TIMEOUT : 100 * kMillisecond, &limit));
    kiln_fence_t *first = submit(session, blocking, {}, {}, limit);
    host.awaitEntered(isCancelled ? 2 : 1);
    host.waitFor = submit(other, lookUp(other, "abs"), {argument()}, {first});
    host.open(true);
    if (isCancelled)
      kiln_call_limit_cancel(limit);
    kiln_status_t *status = kiln_fence_wait(first, KILN_NO_TIMEOUT);
    EXPECT_EQ(kiln_status_code(status), isCancelled ? KILN_STATUS_CANCELLED : KILN_STATUS_DEADLINE_EXCEEDED);
    EXPECT_NE(textOf(status).find("at native function"), std::string::npos);
    EXPECT_EQ(waitFor(host.waitFor).find("the call did not run, because a fence that it waits for failed"), 0u);
    kiln_fence_release(host.waitFor);
    kiln_fence_release(first);
    kiln_call_limit_release(limit);
  }
  host.waitFor = nullptr;
  kiln_session_release(other);
}

TEST_F(CApiAsync, SessionsOfAProgram) {
  kiln_session_options_t options = optionsOfProgram();
  std::vector<kiln_session_t *> sessions(4);
  for (kiln_session_t *&made : sessions)
    must(kiln_session_create(&options, &made));
  kiln_program_release(options.program);
  for (kiln_session_t *made : sessions)
    EXPECT_EQ(numbersOf(submit(made, lookUp(made, "abs"), {argument()})), expected);
  for (kiln_session_t *made : sessions)
    kiln_session_release(made);
}

// 10,000 calls: each of eight threads calls a session of its own, one of its own of a common program, and, as all
// others do at the same time, two shared sessions, synchronously and not.
TEST_F(CApiAsync, TenThousandCallsAtOnce) {
  constexpr int kThreads = 8, kRounds = 250;
  kiln_session_options_t options = optionsOfProgram();
  kiln_session_t *shared[2] = {};
  must(newSession(&shared[0]));
  must(kiln_session_create(&options, &shared[1]));
  std::atomic<int> calls{0}, wrong{0};
  auto thread = [&](int number) {
    const float mine[4] = {static_cast<float>(-number), 2, -3, 4};
    kiln_value_t in = argument();
    must(kiln_buffer_view_create(device, KILN_ELEMENT_TYPE_F32, shape, 1, mine, sizeof(mine), &in.as.ref));
    kiln_session_t *own = nullptr, *ofProgram = nullptr;
    must(newSession(&own));
    must(kiln_session_create(&options, &ofProgram));
    std::vector<kiln_fence_t *> fences;
    auto check = [&](kiln_ref_t result) {
      float copy[4] = {-1};
      must(kiln_buffer_view_read(result, copy, sizeof(copy)));
      wrong += copy[0] != static_cast<float>(number) || copy[2] != 3;
      kiln_ref_release(result);
      ++calls;
    };
    for (int i = 0; i < kRounds; ++i) {
      kiln_value_t out = {};
      for (kiln_session_t *direct : {own, ofProgram}) {
        must(kiln_session_call(direct, lookUp(direct, "abs"), &in, 1, &out, 1));
        check(out.as.ref);
      }
      for (kiln_session_t *queued : {shared[0], shared[1], own}) {
        kiln_fence_t *after[] = {fences.empty() ? nullptr : fences.back()};
        kiln_submit_options_t waits = {sizeof(waits), after, fences.empty() ? size_t(0) : 1, nullptr};
        kiln_fence_t *fence = nullptr;
        must(kiln_session_submit(queued, lookUp(queued, "abs"), &in, 1, &waits, &fence));
        fences.push_back(fence);
      }
      if (fences.size() < 30 && i + 1 < kRounds) {
        must(kiln_fence_wait(fences.back(), KILN_NO_TIMEOUT)); // for the next synchronous call
        continue;
      }
      for (kiln_fence_t *fence : fences) {
        must(kiln_fence_wait(fence, KILN_NO_TIMEOUT));
        must(kiln_fence_results(fence, &out, 1));
        check(out.as.ref);
        kiln_fence_release(fence);
      }
      fences.clear();
    }
    kiln_session_release(own);
    kiln_session_release(ofProgram);
    kiln_ref_release(in.as.ref);
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back(thread, i);
  for (std::thread &running : threads)
    running.join();
  EXPECT_EQ(calls, kThreads * kRounds * 5);
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(misuses.empty()) << misuses.front();
  kiln_program_release(options.program);
  for (kiln_session_t *session : shared)
    kiln_session_release(session);
}

} // namespace
