#include "kiln/tools/interrupts.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/time.h>
#include <thread>
#include <unistd.h>

namespace kiln {

namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
// To end by itself, and then to leave: together less than a second.
constexpr int kGraceMilliseconds = 700, kLeaveMilliseconds = 200;

std::atomic<int> firstSignal{0};
int bell = -1; // counts the signals

void ring(int signal) {
  int error = errno;
  int none = 0;
  firstSignal.compare_exchange_strong(none, signal);
  untilInterrupted().cancel();
  uint64_t once = 1;
  (void)!::write(bell, &once, sizeof(once));
  errno = error;
}

void watch(const std::function<void()> &leave) {
  uint64_t signals = 0;
  while (::read(bell, &signals, sizeof(signals)) < 0 && errno == EINTR)
    ;
  pollfd again = {bell, POLLIN, 0};
  if (signals < 2)
    (void)::poll(&again, 1, kGraceMilliseconds);
  // It may wait for somebody who reads what the tool prints.
  struct sigaction action = {};
  action.sa_handler = [](int) { ::_exit(interruptedExitCode()); };
  itimerval soon = {{}, {0, kLeaveMilliseconds * 1000}};
  if (::sigaction(SIGALRM, &action, nullptr) == 0 && ::setitimer(ITIMER_REAL, &soon, nullptr) == 0)
    leave();
  ::_exit(interruptedExitCode());
}

} // namespace

CallLimit &untilInterrupted() {
  // Never freed: work that nobody waits for may refer to it to the end.
  static CallLimit &limit = *makeRef<CallLimit>(Deadline::infinite(), CallLimit::Stuck::Await).leak();
  return limit;
}

void catchInterrupts(std::function<void()> leave) {
  if (bell >= 0)
    return;
  bell = ::eventfd(0, EFD_CLOEXEC);
  if (bell < 0)
    return; // out of descriptors: signals end the process at once, as without this
  untilInterrupted();
  try {
    std::thread([leave = std::move(leave)] { watch(leave); }).detach();
  } catch (const std::system_error &) {
    return; // out of threads: likewise
  }
  struct sigaction action = {}, former;
  action.sa_handler = ring;
  action.sa_flags = SA_RESTART;
  for (int signal : kSignals)
    if (::sigaction(signal, nullptr, &former) == 0 && former.sa_handler != SIG_IGN)
      (void)::sigaction(signal, &action, nullptr);
}

bool isInterrupted() {
  return firstSignal.load(std::memory_order_relaxed) != 0;
}

int interruptedExitCode() {
  return 128 + firstSignal.load(std::memory_order_relaxed);
}

} // namespace kiln
