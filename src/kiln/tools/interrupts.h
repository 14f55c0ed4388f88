// Ctrl-C: a tool that has something to keep ends within a second of it, with what it has.
//
//   catchInterrupts([] { say("interrupted\n"); });
//   while (!isInterrupted())
//     step();                      // what was done so far is kept
//   return interruptedExitCode();
//
// SIGTERM and SIGHUP are taken likewise. Signals that were ignored when the tool was started stay ignored.
#ifndef KILN_TOOLS_INTERRUPTS_H
#define KILN_TOOLS_INTERRUPTS_H

#include <functional>

#include "kiln/base/call_limit.h"

namespace kiln {

// From here on; the first call in a process counts. A tool that is still there some time after it was interrupted, or
// when it is asked again, is in the middle of a long step: then `leave` is called, on a thread of its own, to tell and
// to keep what can be kept without waiting for that step, and the process exits.
void catchInterrupts(std::function<void()> leave);
bool isInterrupted();
// 128 and the number of the signal, as a shell says.
int interruptedExitCode();
// For calls that are to end where the tool is interrupted.
CallLimit &untilInterrupted();

} // namespace kiln

#endif // KILN_TOOLS_INTERRUPTS_H
