// What every tool prints with, the compiler's and the runtime's.
#ifndef KILN_TOOLS_PRINTING_H
#define KILN_TOOLS_PRINTING_H

#include <cstddef>
#include <string>
#include <string_view>

#include "kiln/base/status.h"

namespace kiln {

// Columns of the terminal that a descriptor writes to, or what COLUMNS says; 80 where there is none.
size_t terminalWidth(int descriptor);
// A message in lines of at most `width` characters; its further lines are indented. Lines that start with a blank are
// drawn, as an excerpt of a source is, and stay.
std::string messageLines(std::string_view text, size_t width);

// Prints "tool: error: message" on standard error, in lines that fit where that is a terminal, and otherwise as it is:
// who searches a log finds it on one line. Gives the exit code of a failure.
int reportFailure(std::string_view tool, const Status &status);
// Likewise "tool: warning: message" and "tool: note: message".
void reportWarning(std::string_view tool, std::string_view message);
void reportNote(std::string_view tool, std::string_view message);
// Prints to standard output. What goes wrong is told by flushStandardOutput.
void print(std::string_view text);
// Flushes standard output: what was lost on a full disk must not look like success.
Status flushStandardOutput();
// The last call of a tool: flushes standard output, and gives the tool's exit code, which is that of a failure where
// output was lost.
int finishOutput(std::string_view tool, int exitCode);
// "1 input", "2 inputs"
std::string counted(size_t count, std::string_view noun);

} // namespace kiln

#endif // KILN_TOOLS_PRINTING_H
