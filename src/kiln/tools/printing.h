// What every tool prints with, the compiler's and the runtime's.
#ifndef KILN_TOOLS_PRINTING_H
#define KILN_TOOLS_PRINTING_H

#include <cstddef>
#include <string>
#include <string_view>

#include "kiln/base/status.h"

namespace kiln {

// Prints "tool: error: message" on standard error; the exit code of a failure.
int reportFailure(std::string_view tool, const Status &status);
// Prints to standard output. What goes wrong is told by flushStandardOutput.
void print(std::string_view text);
// Flushes standard output: what was lost on a full disk must not look like success.
Status flushStandardOutput();
// "1 input", "2 inputs"
std::string counted(size_t count, std::string_view noun);

} // namespace kiln

#endif // KILN_TOOLS_PRINTING_H
