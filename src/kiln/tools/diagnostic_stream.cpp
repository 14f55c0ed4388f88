#include "kiln/tools/diagnostic_stream.h"

#include <algorithm>
#include <string_view>
#include <unistd.h>

#include "kiln/tools/printing.h"

namespace kiln {

DiagnosticStream::DiagnosticStream() : raw_ostream(/*unbuffered=*/true) {
  enable_colors(true);
}

DiagnosticStream::~DiagnosticStream() {
  llvm::errs() << line;
}

// An excerpt of the source has a line of its own, and carets below it that have to stay below.
static bool isMessage(std::string_view line) {
  return std::ranges::any_of(std::initializer_list<std::string_view>{"error: ", "warning: ", "note: ", "remark: "},
                             [&](std::string_view kind) { return line.find(kind) != line.npos; });
}

void DiagnosticStream::write_impl(const char *bytes, size_t size) {
  position += size;
  line.append(bytes, size);
  for (size_t end; (end = line.find('\n')) != std::string::npos; line.erase(0, end + 1)) {
    std::string_view whole = std::string_view(line).substr(0, end);
    bool wraps = ::isatty(STDERR_FILENO) && isMessage(whole);
    llvm::errs() << (wraps ? messageLines(whole, terminalWidth(STDERR_FILENO)) : std::string(whole)) << '\n';
  }
}

} // namespace kiln
