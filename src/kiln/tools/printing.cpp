#include "kiln/tools/printing.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

#include "kiln/base/split.h"
#include "kiln/base/wrap_text.h"

namespace kiln {

size_t terminalWidth(int descriptor) {
  constexpr size_t least = 40, usual = 80;
  if (const char *columns = std::getenv("COLUMNS")) {
    size_t width = 0;
    std::from_chars(columns, columns + std::strlen(columns), width);
    if (width >= least)
      return width;
  }
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col >= least)
    return size.ws_col;
  return usual;
}

std::string messageLines(std::string_view text, size_t width) {
  constexpr size_t indent = 2;
  std::string lines;
  for (std::string_view line : split(text, '\n')) {
    bool isDrawn = line.starts_with(' ') || line.starts_with('\t');
    lines += lines.empty() ? "" : "\n";
    lines += isDrawn || displayWidth(line) <= width ? std::string(line) : hangingText("", line, width, indent);
  }
  return lines;
}

static void report(std::string_view said) {
  // A message may hold what a file or another program says.
  std::string text = plainText(said);
  // Results that were printed before come first where both streams are one.
  std::fflush(stdout);
  if (::isatty(STDERR_FILENO))
    text = messageLines(text, terminalWidth(STDERR_FILENO));
  std::fprintf(stderr, "%s\n", text.c_str());
}

int reportFailure(std::string_view tool, const Status &status) {
  report(fmt::format("{}: error: {}", tool, status.message()));
  return 1;
}

void reportWarning(std::string_view tool, std::string_view message) {
  report(fmt::format("{}: warning: {}", tool, message));
}

void reportNote(std::string_view tool, std::string_view message) {
  report(fmt::format("{}: note: {}", tool, message));
}

// Why standard output has failed first, as an errno: the stream itself only remembers that something did.
static int printError = 0;

void print(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) < text.size() && printError == 0)
    printError = errno;
}

Status flushStandardOutput() {
  errno = 0;
  if (std::fflush(stdout) == 0 && !std::ferror(stdout))
    return okStatus();
  if (printError == 0)
    printError = errno;
  // Another library that printed has not kept it: asked once more, the stream says it again.
  if (printError == 0)
    printError = ::write(STDOUT_FILENO, "\n", 1) < 0 ? errno : EIO;
  return errnoStatus(printError, "cannot write to standard output");
}

int finishOutput(std::string_view tool, int exitCode) {
  static bool told = false; // once is enough
  Status status = flushStandardOutput();
  if (status.ok() || std::exchange(told, true))
    return exitCode;
  int failure = reportFailure(tool, status);
  return exitCode ? exitCode : failure;
}

std::string counted(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

} // namespace kiln
