// How the verbs of kiln-dispatch print as they go: at once, and no wider than the terminal.
#ifndef KILN_TOOLS_DISPATCH_SAY_H
#define KILN_TOOLS_DISPATCH_SAY_H

#include <cstdio>
#include <unistd.h>

#include "kiln/report/formats/text.h"
#include "kiln/tools/dispatch/commands.h"
#include "kiln/tools/printing.h"

namespace kiln {

template <typename... Arguments> void say(fmt::format_string<Arguments...> text, Arguments &&...arguments) {
  print(fmt::format(text, std::forward<Arguments>(arguments)...));
  (void)flushStandardOutput(); // the end of the command tells
}

inline void sayInterrupted() {
  if (isatty(STDERR_FILENO))
    std::fputs("\r\033[K", stderr); // in place of the line that tells of progress
  say("interrupted; the same command goes on from here\n");
}

// In as many lines as it takes on this terminal.
template <typename... Arguments> void sayLines(fmt::format_string<Arguments...> text, Arguments &&...arguments) {
  say("{}\n", hangingText("", plainText(fmt::format(text, std::forward<Arguments>(arguments)...)), consoleWidth(), 2));
}

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_SAY_H
