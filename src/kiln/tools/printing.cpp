#include "kiln/tools/printing.h"

#include <cerrno>
#include <cstdio>

namespace kiln {

int reportFailure(std::string_view tool, const Status &status) {
  // Results that were printed before come first where both streams are one.
  std::fflush(stdout);
  std::fprintf(stderr, "%s\n", fmt::format("{}: error: {}", tool, status.message()).c_str());
  return 1;
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
    printError = errno ? errno : EIO;
  return errnoStatus(printError, "cannot write to standard output");
}

std::string counted(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

} // namespace kiln
