// How a tool ends when the system gives it no more memory, threads or room for files.
#ifndef KILN_TOOLS_EXHAUSTION_H
#define KILN_TOOLS_EXHAUSTION_H

namespace kiln {

// Prints "tool: error: out of memory; ..." on standard error without allocating, and ends the process with exit code 1.
// Files that are written with OutputFile stay as they were.
[[noreturn]] void endForLackOfMemory();
// Likewise "tool: error: cannot start a thread: <why>; ...".
[[noreturn]] void endForLackOfThreads(const char *why);

// The first call of a tool's main, or the first after what installs handlers of signals itself. An exception that
// nobody catches, on any thread, ends the process as above where memory or threads were missing. A write beyond the
// limit of the size of files fails from here on and does not end the process (SIGXFSZ). Standard streams that the
// caller has closed stay closed, whatever is opened. A stack that is limited to less than tools need ends the process,
// too. `tool` must live as long as the program.
void nameWhatIsExhausted(const char *tool);

} // namespace kiln

#endif // KILN_TOOLS_EXHAUSTION_H
