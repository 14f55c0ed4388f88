#include "kiln/tools/dispatch/sweep/interrupts.h"

#include <csignal>
#include <unistd.h>

namespace kiln {

static volatile std::sig_atomic_t interrupts = 0;

static void countInterrupt(int) {
  interrupts = interrupts + 1;
  if (interrupts > 1)
    _exit(130);
}

void catchInterrupts() {
  std::signal(SIGINT, countInterrupt);
  std::signal(SIGTERM, countInterrupt);
}

bool isInterrupted() {
  return interrupts > 0;
}

} // namespace kiln
