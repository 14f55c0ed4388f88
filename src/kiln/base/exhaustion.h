// What programs say when the system gives them no more memory or threads.
#ifndef KILN_BASE_EXHAUSTION_H
#define KILN_BASE_EXHAUSTION_H

#include <string_view>
#include <system_error>

#include "kiln/base/status.h"

namespace kiln {

// Of a std::thread that could not be started: "cannot start <what>: <why>", and what to do.
Status noThread(std::string_view what, const std::system_error &error);

// Prints "tool: error: out of memory; ..." on standard error without allocating, and ends the process with exit code 1.
// Files that are written with OutputFile stay as they were.
[[noreturn]] void endForLackOfMemory();
// Likewise "tool: error: cannot start a thread: <why>; ...".
[[noreturn]] void endForLackOfThreads(const char *why);

// The first call of a tool's main. An exception that nobody catches, on any thread, ends the process as above where
// memory or threads were missing. `tool` must live as long as the program.
void nameWhatIsExhausted(const char *tool);

} // namespace kiln

#endif // KILN_BASE_EXHAUSTION_H
