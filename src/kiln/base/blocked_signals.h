// Threads that leave the signals of the process to the program's own threads.
#ifndef KILN_BASE_BLOCKED_SIGNALS_H
#define KILN_BASE_BLOCKED_SIGNALS_H

#include <csignal>

namespace kiln {

// A thread that is started while one of these lives on the starting thread blocks all signals but those of its own
// faults, which end the process where they are blocked, whatever handler is there.
class BlockedSignals {
public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    for (int fault : {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP})
      sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before);
  }
  BlockedSignals(const BlockedSignals &) = delete;
  BlockedSignals &operator=(const BlockedSignals &) = delete;
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }

private:
  sigset_t before;
};

} // namespace kiln

#endif // KILN_BASE_BLOCKED_SIGNALS_H
