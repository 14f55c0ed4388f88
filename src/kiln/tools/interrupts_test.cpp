#include "kiln/tools/interrupts.h"

#include <chrono>
#include <csignal>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "gtest/gtest.h"

#include "kiln/base/clock.h"

namespace kiln {
namespace {

using namespace std::chrono_literals;

struct Ended {
  int exitCode = -1;  // 128 + the signal where that ended it
  double seconds = 0; // after the first signal
  std::string said;
};

// Longer than anything takes here that is not waited for, however busy the machine is; and what is waited for or is in
// a long step takes twice as long.
constexpr int kLongMilliseconds = 30'000;
constexpr double kLong = kLongMilliseconds / 1e3;
constexpr InterruptPatience kPatient = {.toEnd = 2 * kLongMilliseconds, .toLeave = 2 * kLongMilliseconds};

// A process that catches interrupts and then runs `body`; it is sent the signals once it is ready, with a pause
// between.
Ended interrupted(std::initializer_list<int> signals, void (*leave)(int out), void (*body)(int out),
                  InterruptPatience patience, std::chrono::milliseconds pause = {}) {
  int ends[2];
  if (::pipe(ends) != 0)
    return {};
  pid_t child = ::fork();
  if (child == 0) {
    int out = ends[1];
    catchInterrupts([=] { leave(out); }, patience);
    (void)!::write(out, "r", 1);
    body(out);
    ::_exit(isInterrupted() ? interruptedExitCode() : 0);
  }
  ::close(ends[1]);
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 1);
  uint64_t began = monotonicNanoseconds();
  for (int signal : signals) {
    ::kill(child, signal);
    std::this_thread::sleep_for(pause);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  Ended ended;
  ended.seconds = double(monotonicNanoseconds() - began) / 1e9;
  ended.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  while (::read(ends[0], &byte, 1) == 1)
    ended.said += byte;
  ::close(ends[0]);
  return ended;
}

void sayLeft(int out) {
  (void)!::write(out, "left", 4);
}
void sayKept(int out) {
  while (!isInterrupted())
    std::this_thread::sleep_for(1ms);
  (void)!::write(out, "kept", 4);
}
void sleepLong(int) {
  std::this_thread::sleep_for(std::chrono::milliseconds(2 * kLongMilliseconds));
}

TEST(Interrupts, WhoAsksEndsByItself) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Ended ended = interrupted({signal}, sayLeft, sayKept, kPatient);
    EXPECT_EQ(ended.exitCode, 128 + signal);
    EXPECT_EQ(ended.said, "kept");
    EXPECT_LT(ended.seconds, kLong);
  }
}

TEST(Interrupts, WhoIsInALongStepLeavesIt) {
  constexpr InterruptPatience soon;
  Ended ended = interrupted({SIGINT}, sayLeft, sleepLong, {.toEnd = soon.toEnd, .toLeave = kPatient.toLeave});
  EXPECT_EQ(ended.exitCode, 128 + SIGINT);
  EXPECT_EQ(ended.said, "left");
  EXPECT_GE(ended.seconds, soon.toEnd / 1e3);
  EXPECT_LT(ended.seconds, kLong);
}

TEST(Interrupts, TheSecondOneIsNotWaitedFor) {
  Ended ended = interrupted({SIGINT, SIGTERM}, sayLeft, sleepLong, kPatient, 1s);
  EXPECT_EQ(ended.exitCode & 128, 128);
  EXPECT_EQ(ended.said, "left");
  EXPECT_LT(ended.seconds, kLong);
}

TEST(Interrupts, TwoAtOnceAskOnce) {
  auto keepSlowly = [](int out) {
    sayKept(out);
    std::this_thread::sleep_for(std::chrono::milliseconds(3 * InterruptPatience().together));
  };
  Ended ended = interrupted({SIGINT, SIGINT}, sayLeft, keepSlowly, kPatient);
  EXPECT_EQ(ended.exitCode, 128 + SIGINT);
  EXPECT_EQ(ended.said, "kept");
}

TEST(Interrupts, LeavingTakesNoLonger) {
  Ended ended = interrupted({SIGINT}, sleepLong, sleepLong, {});
  EXPECT_EQ(ended.exitCode, 128 + SIGINT);
  EXPECT_LT(ended.seconds, kLong);
}

TEST(Interrupts, WhatWasIgnoredStaysIgnored) {
  auto former = std::signal(SIGHUP, SIG_IGN);
  Ended ended = interrupted({SIGHUP}, sayLeft, [](int) { std::this_thread::sleep_for(50ms); }, kPatient);
  std::signal(SIGHUP, former);
  EXPECT_EQ(ended.exitCode, 0);
  EXPECT_EQ(ended.said, "");
}

} // namespace
} // namespace kiln
