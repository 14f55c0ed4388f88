#include "kiln/tools/interrupts.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <mutex>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/time.h>
#include <thread>
#include <unistd.h>

#include "kiln/base/clock.h"
#include "kiln/base/exhaustion.h"
#include "kiln/tools/cli.h"

namespace kiln {

namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
static_assert(InterruptPatience().toEnd + InterruptPatience().toLeave < 1000);

// In the place of a signal's number.
constexpr int kTimedOut = -1;
constexpr int kTimedOutExitCode = 124;

std::atomic<int> firstSignal{0};
int bell = -1; // counts the signals
double timeoutSeconds = 0;

// What other threads than the tool's own look at.
struct Shared {
  std::mutex mutex;
  std::function<void()> leave;
  std::string step;
  const uint64_t began = monotonicNanoseconds();
  Status watching = failedPrecondition("interrupts are not caught"); // of the first thread alone
};
Shared &shared() {
  static auto &object = *new Shared; // never freed: the process may exit while another thread reads it
  return object;
}

void ring(int signal) {
  int error = errno;
  int none = 0;
  firstSignal.compare_exchange_strong(none, signal);
  untilInterrupted().cancel();
  uint64_t once = 1;
  (void)!::write(bell, &once, sizeof(once));
  errno = error;
}

void awaitSignals() {
  uint64_t signals = 0;
  while (::read(bell, &signals, sizeof(signals)) < 0 && errno == EINTR)
    ;
}

void watch(InterruptPatience patience) {
  awaitSignals();
  int together = std::min(patience.together, patience.toEnd);
  std::this_thread::sleep_for(std::chrono::milliseconds(together));
  pollfd again = {bell, POLLIN, 0};
  if (::poll(&again, 1, 0) > 0)
    awaitSignals(); // those that came together with the first
  (void)::poll(&again, 1, patience.toEnd - together);
  // It may wait for somebody who reads what the tool prints.
  struct sigaction action = {};
  action.sa_handler = [](int) { ::_exit(interruptedExitCode()); };
  itimerval soon = {{}, {patience.toLeave / 1000, patience.toLeave % 1000 * 1000}};
  if (::sigaction(SIGALRM, &action, nullptr) == 0 && ::setitimer(ITIMER_REAL, &soon, nullptr) == 0)
    if (std::function<void()> leave = (std::lock_guard(shared().mutex), shared().leave))
      leave();
  ::_exit(interruptedExitCode());
}

} // namespace

CallLimit &untilInterrupted() {
  // Never freed: work that nobody waits for may refer to it to the end.
  static CallLimit &limit = *makeRef<CallLimit>(Deadline::infinite(), CallLimit::Stuck::Await).leak();
  return limit;
}

void catchInterrupts(std::function<void()> leave, InterruptPatience patience) {
  {
    std::lock_guard lock(shared().mutex);
    shared().leave = std::move(leave);
  }
  if (bell >= 0)
    return;
  bell = ::eventfd(0, EFD_CLOEXEC);
  // Out of descriptors or threads: signals end the process at once, as without this.
  if (bell < 0) {
    shared().watching = errnoStatus(errno, "cannot watch for the end of the time");
    return;
  }
  untilInterrupted();
  try {
    std::thread(watch, patience).detach();
    shared().watching = okStatus();
  } catch (const std::system_error &error) {
    shared().watching = noThread("the thread that ends the tool", error);
    return;
  }
  struct sigaction action = {}, former;
  action.sa_handler = ring;
  action.sa_flags = SA_RESTART;
  for (int signal : kSignals)
    if (::sigaction(signal, nullptr, &former) == 0 && former.sa_handler != SIG_IGN)
      (void)::sigaction(signal, &action, nullptr);
}

Status interruptAfter(double seconds) {
  if (seconds == 0)
    return okStatus();
  KILN_RETURN_IF_ERROR(Status(shared().watching));
  timeoutSeconds = seconds;
  constexpr double longest = 1e9; // decades, which a clock can still count
  try {
    std::thread([seconds = std::min(seconds, longest)] {
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
      ring(kTimedOut);
    }).detach();
  } catch (const std::system_error &error) {
    return noThread("the thread that watches the time", error);
  }
  return okStatus();
}

bool isInterrupted() {
  return firstSignal.load(std::memory_order_relaxed) != 0;
}

bool isTimedOut() {
  return firstSignal.load(std::memory_order_relaxed) == kTimedOut;
}

int interruptedExitCode() {
  return isTimedOut() ? kTimedOutExitCode : 128 + firstSignal.load(std::memory_order_relaxed);
}

void setStep(std::string step) {
  std::lock_guard lock(shared().mutex);
  shared().step = std::move(step);
}

int reportInterrupted(std::string_view tool) {
  static std::atomic_flag isSaid = ATOMIC_FLAG_INIT;
  if (isSaid.test_and_set())
    return interruptedExitCode();
  std::string step = (std::lock_guard(shared().mutex), shared().step);
  std::string cause = isTimedOut() ? fmt::format("--timeout={}: ended", timeoutSeconds) : "interrupted";
  double seconds = double(monotonicNanoseconds() - shared().began) / 1e9;
  reportFailure(tool, cancelled("{} after {:.1f} s{}{}", cause, seconds, step.empty() ? "" : " ", step));
  return interruptedExitCode();
}

int reportEnd(std::string_view tool, const Status &status) {
  bool isCause = isInterrupted() && status.code() == StatusCode::Cancelled;
  return isCause ? reportInterrupted(tool) : reportFailure(tool, status);
}

} // namespace kiln
