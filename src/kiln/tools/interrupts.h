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
#include <string>
#include <string_view>

#include "kiln/base/call_limit.h"
#include "kiln/base/status.h"

namespace kiln {

// In milliseconds: how long a tool may take to end by itself, and then `leave`; the sum is less than a second. Signals
// within the first `together` ask once: timeout(1) sends one to the process and one to its group, and who started a
// tool from a terminal may pass on what the terminal sent to both.
struct InterruptPatience {
  int toEnd = 700, toLeave = 200, together = 100;
};

// From here on; a later call replaces `leave` alone. A tool that is still there some time after it was interrupted, or
// when it is asked again, is in the middle of a long step: then `leave` is called, on a thread of its own, to tell and
// to keep what can be kept without waiting for that step, and the process exits. Tests may be patient for longer.
void catchInterrupts(std::function<void()> leave, InterruptPatience patience = {});
// From here on, the tool is interrupted after so many seconds as if it were asked to end; after catchInterrupts. 0 is
// no limit.
Status interruptAfter(double seconds);

bool isInterrupted();
// Whether interruptAfter did it, and no signal.
bool isTimedOut();
// 128 and the number of the signal, as a shell says; 124 after interruptAfter, as timeout(1) says.
int interruptedExitCode();
// For calls that are to end where the tool is interrupted.
CallLimit &untilInterrupted();

// What the tool does from here on, and what is left of it where it is interrupted meanwhile: "while calling @main;
// nothing was written".
void setStep(std::string step);
// Prints on standard error that the tool was interrupted, after how long, and the step; once, whoever calls it first.
// Returns the exit code.
int reportInterrupted(std::string_view tool);
// Of what made a tool fail: reportInterrupted where that is because it was interrupted, else reportFailure.
int reportEnd(std::string_view tool, const Status &status);

} // namespace kiln

#endif // KILN_TOOLS_INTERRUPTS_H
